//! The worker's end of the line to the bench.

use std::io::{Write, stdin, stdout};
use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};

use serde::Serialize;
use warpath::{Error, Result};

use super::messages::{Case, Counters, Message, Ready, Reply, Request};

/// A line to the bench over standard input and output. When the bench closes it, or ends, the process ends, too, even in the
/// middle of a call.
pub(crate) struct Link {
    requests: Receiver<String>,
}

impl Link {
    pub(crate) fn open() -> Self {
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            // If nobody receives, the process is about to end.
            stdin().lines().map_while(std::result::Result::ok).try_for_each(|line| sender.send(line)).ok();
            std::process::exit(1)
        });
        Link { requests }
    }

    fn next(&self) -> Result<Request> {
        let line = self.requests.recv().map_err(|_| Error::Interrupted)?;
        serde_json::from_str(&line).map_err(|error| Error::invalid(format!("`{line}` is no request: {error}")))
    }

    /// Waits for the next case.
    pub(crate) fn case(&self) -> Result<Case> {
        match self.next()? {
            Request::Case(case) => Ok(case),
            other => Err(out_of_turn(&other)),
        }
    }

    pub(crate) fn say<A: Serialize>(&self, message: &Message<A>) -> Result<()> {
        let failed = |error| Error::io("<stdout>", error);
        let text = serde_json::to_string(message).map_err(|error| failed(error.into()))?;
        let mut out = stdout().lock();
        // A package may have printed the beginning of a line.
        write!(out, "\n{text}\n").and_then(|()| out.flush()).map_err(failed)
    }

    /// Answers questions until the case is done.
    pub(crate) fn answer<A: Serialize>(
        &self,
        ready: Ready,
        answer: &mut dyn FnMut(Range<usize>) -> Result<Reply<A>>,
    ) -> Result<()> {
        self.say(&Message::<A>::Ready(ready))?;
        loop {
            match self.next()? {
                Request::Questions(range) => self.say(&Message::Reply(answer(range)?))?,
                Request::End => return Ok(()),
                other => return Err(out_of_turn(&other)),
            }
        }
    }

    /// Says how a case ended; an error ends the worker.
    pub(crate) fn end(&self, ended: Result<Counters>) -> Result<()> {
        match ended {
            Ok(counters) => self.say(&Message::<()>::Ended(counters)),
            Err(error) => {
                self.say(&match &error {
                    Error::NotVerified(text) => Message::<()>::Wrong(text.clone()),
                    other => Message::Failed(other.to_string()),
                })?;
                Err(error)
            }
        }
    }
}

fn out_of_turn(request: &Request) -> Error {
    Error::invalid(format!("the bench sent {request:?} out of turn"))
}
