//! Why a model stopped, in the words of all APIs: compatible servers mix them.

use super::{ModelError, StopReason, failure};

/// What a word means. One that nobody knows is no end of a whole answer: servers have many for what went wrong on their side.
pub(super) fn reason(word: &str) -> Result<StopReason, ModelError> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "end_turn" | "stop" | "stop_sequence" | "eos" | "eos_token" | "complete" | "completed" => {
            StopReason::EndTurn
        }
        "tool_use" | "tool_calls" | "function_call" => StopReason::ToolUse,
        "max_tokens" | "length" | "max_output_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" | "model_length" => StopReason::WindowFull,
        "refusal" | "content_filter" | "safety" | "guardrail_intervened" => StopReason::Refusal,
        "pause_turn" => StopReason::Paused,
        _ => return Err(failure::broken(format!("the answer broke off: `{word}`"))),
    })
}
