//! A model behind HTTP on loopback: answers in order or by who asks, streamed as the real APIs stream them, and what was
//! asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::asker::Asker;
use super::gates::Gates;

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// Bytes a write; 0: all at once.
    chunk: usize,
    /// Whether the connection breaks off after this many bytes of the body.
    cut: Option<usize>,
    /// Whether the connection then stays, and nothing more comes.
    held: bool,
    /// Where the request stops before the first byte of the answer.
    stop: Option<Stop>,
}

#[derive(Clone, Debug)]
struct Stop {
    name: &'static str,
    /// How many requests have to come; without a number the test lets them go.
    opens_with: Option<usize>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub asker: Asker,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

/// The server; it ends with the test.
pub struct ModelServer {
    pub url: String,
    shared: Arc<Shared>,
}

/// What the server's threads have in common.
struct Shared {
    answers: Answers,
    asked: Mutex<Vec<Asked>>,
    gates: Gates,
}

enum Answers {
    InOrder(Mutex<std::vec::IntoIter<Answer>>),
    ByAsker(Vec<(&'static str, Vec<Answer>)>),
}

impl Answer {
    /// A refusal with a JSON body.
    pub fn refusal(status: u16, message: &str) -> Self {
        let body = json!({ "type": "error", "error": { "type": "error", "message": message } }).to_string();
        Answer {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body,
            chunk: 0,
            cut: None,
            held: false,
            stop: None,
        }
    }

    /// A stream of server-sent events.
    pub fn stream(body: String) -> Self {
        Answer {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body,
            chunk: 0,
            cut: None,
            held: false,
            stop: None,
        }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends the body in pieces of so many bytes.
    pub fn in_pieces(mut self, bytes: usize) -> Self {
        self.chunk = bytes;
        self
    }

    /// Breaks the connection off in the middle of the body.
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    /// Sends no more than the beginning of the body, up to and with a text, and keeps the connection.
    pub fn held_after(mut self, text: &str) -> Self {
        self.cut = Some(end_of_event(&self.body, text));
        self.held = true;
        self
    }

    /// Breaks the connection off behind a text of the body.
    pub fn cut_after(mut self, text: &str) -> Self {
        self.cut = Some(end_of_event(&self.body, text));
        self
    }

    /// Says nothing, not even a status, until the test opens the place of that name.
    pub fn held_at(mut self, name: &'static str) -> Self {
        self.stop = Some(Stop { name, opens_with: None });
        self
    }

    /// Says nothing until so many requests have come to the place of that name.
    pub fn meeting_at(mut self, name: &'static str, requests: usize) -> Self {
        self.stop = Some(Stop { name, opens_with: Some(requests) });
        self
    }
}

impl ModelServer {
    /// Serves the answers in order; past the last one it refuses with 500.
    pub fn start(answers: Vec<Answer>) -> Self {
        Self::serving(Answers::InOrder(Mutex::new(answers.into_iter())))
    }

    /// Serves each `#name` its own answers, one a turn; the last one repeats. Who has none is refused with 400.
    pub fn by_asker(answers: Vec<(&'static str, Vec<Answer>)>) -> Self {
        Self::serving(Answers::ByAsker(answers))
    }

    fn serving(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { answers, asked: Mutex::default(), gates: Gates::default() });
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&all);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        ModelServer { url, shared }
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Who has asked so far, in order.
    pub fn askers(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.asker.name).collect()
    }

    /// Opens a place at which answers are held.
    pub fn open(&self, name: &str) {
        self.shared.gates.open(name);
    }

    /// How many requests stand at a place.
    pub fn waiting(&self, name: &str) -> usize {
        self.shared.gates.waiting(name)
    }

    /// Refuses with 400 all who stand at a place or come later. Gives how many stood there.
    pub fn give_up(&self, name: &str) -> usize {
        self.shared.gates.give_up(name)
    }
}

/// Where the event ends that says this.
fn end_of_event(body: &str, text: &str) -> usize {
    let at = body.find(text).unwrap();
    at + body[at..].find("\n\n").unwrap() + 2
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        while let Some((headers, body)) = read_request(&mut reader) {
            let answer = self.answer(headers, body);
            let answer = match &answer.stop {
                Some(Stop { name, opens_with }) if !self.gates.pass(name, *opens_with) => {
                    Answer::refusal(400, &format!("`{name}` was given up"))
                }
                _ => answer,
            };
            if write_answer(&mut writer, &answer).is_err() || answer.cut.is_some() {
                let _ = writer.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }

    /// Notes who asks, and finds their answer.
    fn answer(&self, headers: Vec<(String, String)>, body: Value) -> Answer {
        let names: Vec<&str> = match &self.answers {
            Answers::InOrder(_) => Vec::new(),
            Answers::ByAsker(all) => all.iter().map(|(name, _)| *name).collect(),
        };
        let asker = Asker::of(&body, &names);
        self.asked.lock().unwrap().push(Asked { asker: asker.clone(), headers, body });
        match &self.answers {
            Answers::InOrder(answers) => answers.lock().unwrap().next(),
            Answers::ByAsker(all) => all
                .iter()
                .find(|(name, _)| *name == asker.name)
                .and_then(|(_, turns)| turns.get(asker.turn).or(turns.last()).cloned())
                .or_else(|| Some(Answer::refusal(400, &format!("no answers for `{}`", asker.name)))),
        }
        .unwrap_or_else(|| Answer::refusal(500, "no more answers"))
    }
}

/// The headers and the body of a request.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(Vec<(String, String)>, Value)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((headers, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn write_answer(writer: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    writer.set_nodelay(true)?;
    write!(writer, "HTTP/1.1 {} answer\r\ntransfer-encoding: chunked\r\n", answer.status)?;
    for (name, value) in &answer.headers {
        write!(writer, "{name}: {value}\r\n")?;
    }
    writer.write_all(b"\r\n")?;
    let body = answer.body.as_bytes();
    let body = &body[..answer.cut.unwrap_or(body.len()).min(body.len())];
    let size = if answer.chunk == 0 { body.len().max(1) } else { answer.chunk };
    for piece in body.chunks(size) {
        write!(writer, "{:x}\r\n", piece.len())?;
        writer.write_all(piece)?;
        writer.write_all(b"\r\n")?;
        writer.flush()?;
    }
    if answer.cut.is_none() {
        writer.write_all(b"0\r\n\r\n")?;
    }
    writer.flush()?;
    if answer.held {
        // Until the other side is gone.
        let _ = writer.read(&mut [0]);
    }
    Ok(())
}

/// An Anthropic stream of one tool call.
pub fn anthropic_call(id: &str, tool: &str, input: &Value) -> String {
    anthropic_calls(&[(id, tool, input.clone())])
}

/// An Anthropic stream of several tool calls.
pub fn anthropic_calls(calls: &[(&str, &str, Value)]) -> String {
    let blocks = calls.iter().enumerate().flat_map(|(index, (id, tool, input))| {
        let json = input.to_string();
        let (one, two) = json.split_at(json.len() / 2);
        [
            json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}),
            json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": one}}),
            json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": two}}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    });
    anthropic(&blocks.collect::<Vec<_>>(), "tool_use")
}

/// An Anthropic stream of one text.
pub fn anthropic_text(text: &str) -> String {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (one, two) = text.split_at(middle);
    anthropic(
        &[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": two}}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        "end_turn",
    )
}

fn anthropic(blocks: &[Value], stop: &str) -> String {
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-test", "content": [], "stop_reason": null, "usage": {"input_tokens": 25, "output_tokens": 1}}});
    let delta =
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 15}});
    let all =
        [start].into_iter().chain(blocks.iter().cloned()).chain([delta, json!({"type": "message_stop"})]);
    all.map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

/// An OpenAI stream of one tool call.
pub fn openai_call(id: &str, tool: &str, input: &Value) -> String {
    let json = input.to_string();
    let (one, two) = json.split_at(json.len() / 2);
    openai(
        &[
            json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": one}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": two}}]}),
        ],
        "tool_calls",
    )
}

/// An OpenAI stream of one text.
pub fn openai_text(text: &str) -> String {
    let deltas: Vec<Value> = text.split_inclusive(' ').map(|word| json!({"content": word})).collect();
    openai(&deltas, "stop")
}

fn openai(deltas: &[Value], finish: &str) -> String {
    let chunk = |choices: Value, usage: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test", "choices": choices, "usage": usage});
    let mut all: Vec<Value> = deltas
        .iter()
        .map(|delta| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null))
        .collect();
    all.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), Value::Null));
    all.push(chunk(json!([]), json!({"prompt_tokens": 25, "completion_tokens": 15, "total_tokens": 40})));
    let mut text: String = all.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    text
}
