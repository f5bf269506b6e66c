"""One game as a person reads it: ``board`` as signs, ``picture`` with pygame (the extra ``goodharts``)."""
