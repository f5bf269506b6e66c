"""What pictures of any world are drawn and shown with; all but ``colours`` and ``display`` needs pygame."""
