//! A model server on loopback that answers what a test has written down, and says what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use flow_core::ids::Address;
use flow_core::model::{ModelWish, ProviderKind, ProviderSettings, Settings, SettingsLayer};
use flow_core::wire::{Message, ModelError, Reply, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Cursor, ModelHandle, ProviderConfig, Providers, Sign};

/// One answer of the server.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<String>,
    /// Each is a chunk of its own.
    pieces: Vec<Vec<u8>>,
    end: End,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    Whole,
    /// The connection is gone before the last chunk.
    Cut,
    /// Nothing more comes, and the connection stays.
    Still,
    /// Pings come for ever.
    Pings,
}

impl Answer {
    pub(crate) fn stream(text: &str) -> Self {
        Answer {
            status: 200,
            headers: vec!["content-type: text/event-stream".to_owned()],
            pieces: vec![text.as_bytes().to_vec()],
            end: End::Whole,
        }
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Answer { status, headers: Vec::new(), pieces: vec![body.as_bytes().to_vec()], end: End::Whole }
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.headers.push(line.to_owned());
        self
    }

    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// The same bytes in pieces of this many.
    pub(crate) fn in_pieces(mut self, size: usize) -> Self {
        self.pieces = self.pieces.concat().chunks(size).map(<[u8]>::to_vec).collect();
        self
    }
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Request line and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server. It ends with its runtime.
pub(crate) struct Server {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Arc<tokio::sync::Notify>,
}

impl Server {
    /// Serves these answers in order; what is asked beyond them gets status 418.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = Server { base, seen: Arc::default(), hung_up: Arc::default() };
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let (seen, hung_up) = (Arc::clone(&server.seen), Arc::clone(&server.hung_up));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answers), Arc::clone(&seen), Arc::clone(&hung_up)));
            }
        });
        server
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until a client has gone while its answer stood still.
    pub(crate) async fn hung_up(&self) {
        self.hung_up.notified().await;
    }

    /// A model of this server.
    pub(crate) fn model(&self, kind: ProviderKind) -> ModelHandle {
        self.providers(kind, SettingsLayer::User, Some("TEST_KEY"))
            .resolve(ModelWish::Plan("test/model-1"))
            .unwrap()
            .model
    }

    /// Providers with this server as the provider `test`; the variable `TEST_KEY` is `secret-key-123`.
    pub(crate) fn providers(&self, kind: ProviderKind, layer: SettingsLayer, key: Option<&str>) -> Providers {
        let mut settings = Settings::default();
        let provider = ProviderSettings {
            kind,
            base_url: Some(self.base.clone()),
            api_key_env: key.map(str::to_owned),
            max_concurrent: None,
            allow_local: true,
            layer,
        };
        settings.providers.insert("test".to_owned(), provider);
        let env = |name: &str| (name != "UNSET").then(|| "secret-key-123".to_owned());
        Providers::new(ProviderConfig { settings, script: None, model: None, env: Box::new(env) }).unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Arc<tokio::sync::Notify>,
) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream).await else { return };
    seen.lock().unwrap().push(request);
    let answer =
        answers.lock().unwrap().pop_front().unwrap_or_else(|| Answer::status(418, "no more answers"));
    let mut head =
        format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\nconnection: close\r\n", answer.status);
    for header in &answer.headers {
        head.push_str(&format!("{header}\r\n"));
    }
    let mut chunks = vec![format!("{head}\r\n").into_bytes()];
    for piece in answer.pieces.iter().filter(|piece| !piece.is_empty()) {
        chunks.push([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    }
    if answer.end == End::Whole {
        chunks.push(b"0\r\n\r\n".to_vec());
    }
    for chunk in chunks {
        if stream.write_all(&chunk).await.is_err() {
            return;
        }
    }
    match answer.end {
        End::Whole | End::Cut => {}
        End::Still => {
            let mut byte = [0];
            while matches!(stream.read(&mut byte).await, Ok(count) if count > 0) {}
            hung_up.notify_one();
        }
        End::Pings => {
            let ping = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";
            let chunk = [format!("{:x}\r\n", ping.len()).as_bytes(), ping, b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_len = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_len]).to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: "))?.trim().parse::<usize>().ok()?;
    while bytes.len() < head_len + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head_len..]).unwrap_or_default();
    Some(Seen { head, body })
}

/// An answer of Anthropic Messages that calls `Read`.
pub(crate) fn anthropic_call(path: &str) -> String {
    let input = json!({ "file_path": path }).to_string();
    let (first, second) = input.split_at(input.len() / 2);
    let events = [
        json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant",
            "model": "model-1-dated", "content": [], "stop_reason": null, "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "toolu_1", "name": "Read", "input": {} } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": first } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": second } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ];
    anthropic_events(&events)
}

/// An answer of Anthropic Messages with a text.
pub(crate) fn anthropic_text(text: &str) -> String {
    let events = [
        json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant",
            "model": "model-1-dated", "content": [], "stop_reason": null, "usage": { "input_tokens": 20, "output_tokens": 1 } } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 5 } }),
        json!({ "type": "message_stop" }),
    ];
    anthropic_events(&events)
}

fn anthropic_events(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

/// An answer of OpenAI chat completions that calls `Read`.
pub(crate) fn openai_call(path: &str) -> String {
    let input = json!({ "file_path": path }).to_string();
    let delta = |delta: Value, finish: Value| {
        json!({ "id": "c", "object": "chat.completion.chunk", "model": "model-1-dated",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
    };
    let call = |function: Value| json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": function }] });
    openai_events(&[
        delta(call(json!({ "name": "Read", "arguments": "" })), Value::Null),
        delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": input } }] }), Value::Null),
        delta(json!({}), json!("tool_calls")),
        json!({ "id": "c", "model": "model-1-dated", "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 7 } }),
    ])
}

/// An answer of OpenAI chat completions with a text.
pub(crate) fn openai_text(text: &str) -> String {
    let delta = |delta: Value, finish: Value| {
        json!({ "id": "c", "object": "chat.completion.chunk", "model": "model-1-dated",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
    };
    openai_events(&[
        delta(json!({ "role": "assistant", "content": "" }), Value::Null),
        delta(json!({ "content": text }), Value::Null),
        delta(json!({}), json!("stop")),
        json!({ "id": "c", "model": "model-1-dated", "choices": [], "usage": { "prompt_tokens": 20, "completion_tokens": 5 } }),
    ])
}

fn openai_events(events: &[Value]) -> String {
    let mut text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text
}

/// A request with one user message.
pub(crate) fn request() -> Request {
    Request {
        model: "model-1".to_owned(),
        system: "You test.".into(),
        tools: Vec::new().into(),
        messages: vec![Message::user("Hello")],
        max_tokens: 100,
        effort: None,
    }
}

pub(crate) fn cursor() -> Cursor {
    Cursor { address: Address::task("t"), agent: "worker".to_owned(), position: 0 }
}

/// Asks once and gives the answer with all that was said on the way.
pub(crate) async fn ask(model: &ModelHandle) -> (Result<Reply, ModelError>, Vec<Sign>) {
    let mut signs = Vec::new();
    let reply = model.ask(&mut cursor(), &request(), &mut |sign| signs.push(sign)).await;
    (reply, signs)
}
