"""What pictures of any world are drawn and shown with; needs pygame."""
