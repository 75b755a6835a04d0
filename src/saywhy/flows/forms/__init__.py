"""FORM: several inputs that one answer may fill, with review, confirmation and one submission."""
