//! Watchers: what a person sees while a run lives.
