//! Models: written ones and those behind HTTP, one gate per provider and model.
