//! The run folder: journal, output files, ownership.
