//! Finding and reading what a run is made of: project root, manifests, agent files, flow.toml layers.
