//! Playing a written model.

use flow_core::wire::{
    Block, Delta, ModelError, ModelErrorKind, ModelScript, Played, Reply, Request, script_ended,
};

use super::sign::Cursor;

/// Plays the turn at the cursor's position.
pub(super) async fn ask(
    script: &ModelScript,
    cursor: &Cursor,
    position: u32,
    request: &Request,
    delta: &mut (dyn FnMut(Delta) + Send),
) -> Result<Reply, ModelError> {
    let Some(turns) = script.turns_for(&cursor.address, &cursor.agent) else {
        let message = format!(
            "the script has no turns for `{}`, its agent `{}` or `default`",
            cursor.address, cursor.agent
        );
        return Err(ModelError {
            kind: ModelErrorKind::ScriptEnded,
            status: None,
            message,
            retry_after: None,
        });
    };
    let turn = turns.turn(position).ok_or_else(|| script_ended(position))?;
    if let Some(sleep) = turn.sleep {
        tokio::time::sleep(sleep).await;
    }
    match turn.play(request, position) {
        Played::Reply(reply) => {
            for block in &reply.content {
                match block {
                    Block::Text { text } => delta(Delta::Text(text.clone())),
                    Block::ToolUse { name, .. } => delta(Delta::ToolUse(name.clone())),
                    Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolResult { .. } => {}
                }
            }
            Ok(reply)
        }
        Played::Fail(error) => Err(error),
        Played::Cut(text) => {
            delta(Delta::Text(text));
            let message = "the stream broke off, as the script says".to_owned();
            Err(ModelError { kind: ModelErrorKind::Broken, status: None, message, retry_after: None })
        }
        Played::Hang => std::future::pending().await,
    }
}
