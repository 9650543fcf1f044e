//! From bytes to trees with places: nothing is resolved yet.

mod node;
mod workflow_file;

pub use node::{Entry, Node, NodeKind};
pub use workflow_file::{
    ExpectFile, InputFile, MatrixFile, NeedFile, PermissionsFile, RetryFile, TaskFile, TaskKeys, Text,
    TimeoutFile, WorkflowFile,
};
