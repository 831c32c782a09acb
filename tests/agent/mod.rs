//! An agent that answers by a script, on a thread of its own: for the tests of the client and those
//! of the binary.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Answers every request with these bytes, then does what `then` does with the connection. Gives
/// the URL, and each request as it came.
pub(crate) fn scripted<T>(answer: impl Into<Vec<u8>>, then: T) -> (String, Receiver<String>)
where
    T: Fn(TcpStream) + Send + Clone + 'static,
{
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/agent", listener.local_addr().unwrap());
    let (tell, told) = channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let (answer, tell, then) = (answer.clone(), tell.clone(), then.clone());
            thread::spawn(move || {
                drop(tell.send(request(&mut connection)));
                drop(connection.write_all(&answer));
                then(connection);
            });
        }
    });
    (url, told)
}

/// Closes a connection in good order.
pub(crate) fn close(connection: TcpStream) {
    drop(connection.shutdown(Shutdown::Write));
    hold(connection);
}

/// Holds a connection open until its client closes it.
pub(crate) fn hold(mut connection: TcpStream) {
    let mut rest = Vec::new();
    drop(connection.read_to_end(&mut rest));
}

/// Reads a request whose body has a length.
pub(crate) fn request(connection: &mut impl Read) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let len = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if len.map_or(0, |len| len.parse().unwrap()) <= body.len() {
                return text;
            }
        }
        let len = connection.read(&mut part).unwrap_or(0);
        if len == 0 {
            return text;
        }
        bytes.extend_from_slice(&part[..len]);
    }
}
