//! Agent files as found in the field, read into one shape.
