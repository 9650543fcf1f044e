//! The run report and the notifications: folds over the journal.
