//! Private trees: git worktrees, made, checked and taken down without losing work.
