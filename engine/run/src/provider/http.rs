//! One request over HTTP, and its answer as it streams in.

use flow_core::ids::Millis;
use flow_core::text::one_line;
use flow_core::wire::{Delta, ModelError, ModelErrorKind, Reply, Request, SseDecoder, retry_after};
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};

use super::endpoint::{Endpoint, Key, in_short};

/// The most bytes that are read of an answer which is a refusal.
const MAX_REFUSAL: usize = 64 * 1024;

/// The most bytes that are shown of an answer which is no stream of events.
const MAX_OPENING: usize = 200;

/// Makes one request.
pub(super) async fn ask(
    endpoint: &Endpoint,
    request: &Request,
    now: Millis,
    delta: &mut (dyn FnMut(Delta) + Send),
) -> Result<Reply, ModelError> {
    let answer = exchange(endpoint, request, now, delta).await;
    answer.map_err(|error| described(endpoint, error))
}

async fn exchange(
    endpoint: &Endpoint,
    request: &Request,
    now: Millis,
    delta: &mut (dyn FnMut(Delta) + Send),
) -> Result<Reply, ModelError> {
    let sending = send(endpoint, request)?;
    let response = match timeout(endpoint.patience.first, sending).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(failure(ModelErrorKind::Connection, in_short(&error.without_url()))),
        Err(_) => {
            let waited = endpoint.patience.first;
            return Err(failure(ModelErrorKind::Connection, format!("no answer within {waited:?}")));
        }
    };
    match response.status() {
        StatusCode::OK => stream(endpoint, response, delta).await,
        status => Err(refusal(endpoint, response, status, now).await),
    }
}

/// The request, ready to be sent.
fn send(
    endpoint: &Endpoint,
    request: &Request,
) -> Result<impl Future<Output = reqwest::Result<Response>> + use<>, ModelError> {
    let client = endpoint.client().map_err(|error| failure(ModelErrorKind::Refused, error.to_string()))?;
    let (key, variable) = match &endpoint.key {
        Key::Held { value, variable } => (value.as_str(), variable.as_str()),
        Key::None | Key::Unbound => ("", ""),
    };
    let mut builder = client.post(endpoint.url.clone()).header(CONTENT_TYPE, "application/json");
    for (name, value) in (endpoint.api.headers)(key) {
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = format!("the key in `{variable}` holds characters that no key has");
            failure(ModelErrorKind::Refused, message)
        })?;
        value.set_sensitive(true);
        builder = builder.header(name, value);
    }
    let body = (endpoint.api.encode)(request).to_string();
    Ok(builder.body(body).send())
}

/// Reads the answer to its end.
async fn stream(
    endpoint: &Endpoint,
    mut response: Response,
    delta: &mut (dyn FnMut(Delta) + Send),
) -> Result<Reply, ModelError> {
    let mut events = SseDecoder::default();
    let mut decoder = endpoint.api.decoder();
    let idle = endpoint.patience.idle;
    let mut deadline = Instant::now() + idle;
    let mut opening = Opening::default();
    while !decoder.is_done() {
        let chunk = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            Ok(Err(error)) => {
                let message = format!("the stream broke off: {}", in_short(&error.without_url()));
                return Err(failure(ModelErrorKind::Broken, message));
            }
            Err(_) => {
                return Err(failure(ModelErrorKind::Broken, format!("the stream stood still for {idle:?}")));
            }
        };
        opening.read(&chunk);
        for event in events.push(&chunk)? {
            opening.is_event = true;
            for piece in decoder.event(&event)? {
                if piece != Delta::Ping {
                    deadline = Instant::now() + idle;
                }
                delta(piece);
            }
        }
    }
    match opening.is_event {
        true => decoder.finish(),
        false => Err(failure(ModelErrorKind::Broken, opening.no_stream())),
    }
}

/// How an answer begins: what is shown of one in which no event came, such as the sign-in page of a proxy.
#[derive(Default)]
struct Opening {
    bytes: Vec<u8>,
    is_event: bool,
}

impl Opening {
    fn read(&mut self, chunk: &[u8]) {
        let room = MAX_OPENING - self.bytes.len();
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }

    fn no_stream(&self) -> String {
        match one_line(&String::from_utf8_lossy(&self.bytes), MAX_OPENING).as_str() {
            "" => "the answer is empty: no stream of events came".to_owned(),
            begin => format!("the answer is no stream of events; it begins with `{begin}`"),
        }
    }
}

/// What an answer with another status than 200 says.
async fn refusal(endpoint: &Endpoint, mut response: Response, status: StatusCode, now: Millis) -> ModelError {
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = wait.and_then(|value| retry_after(value, now));
    if status.is_redirection() {
        let message = "it answered with a redirect, and redirects are not followed".to_owned();
        return ModelError { status: Some(status.as_u16()), ..failure(ModelErrorKind::Refused, message) };
    }
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_REFUSAL - body.len())]);
            if body.len() == MAX_REFUSAL {
                break;
            }
        }
    };
    // The status is what counts; words that don't come in time are done without.
    let _ = timeout(endpoint.patience.connect, reading).await;
    let mut error = (endpoint.api.error)(status.as_u16(), &String::from_utf8_lossy(&body));
    error.retry_after = wait.or(error.retry_after);
    error
}

fn failure(kind: ModelErrorKind, message: String) -> ModelError {
    ModelError { kind, status: None, message, retry_after: None }
}

/// The error with what a person needs to act on it, and without the key, should the provider have repeated it.
fn described(endpoint: &Endpoint, mut error: ModelError) -> ModelError {
    let about_key = matches!(error.status, Some(401 | 403));
    match &endpoint.key {
        Key::Held { value, variable } => {
            error.message = error.message.replace(value, "***");
            if about_key {
                error.message.push_str(&format!(" (the key is from `{variable}`)"));
            }
        }
        Key::Unbound if about_key => {
            error.message.push_str(&format!(" ({})", endpoint.note().unwrap_or_default()));
        }
        Key::None if about_key => {
            error.message.push_str(" (no key was sent; name its variable in `api_key_env`)");
        }
        Key::Unbound | Key::None => {}
    }
    if error.kind == ModelErrorKind::Connection {
        error.message = format!("no connection to `{}`: {}", endpoint.host, error.message);
    }
    error
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
