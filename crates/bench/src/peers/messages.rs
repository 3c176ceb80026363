//! What the bench and its workers say to each other: one JSON object a line.
//!
//! The bench sends [`Request`]s to a worker's standard input, which prints [`Message`]s. A case begins with
//! [`Request::Case`], to which the worker says [`Message::Ready`]; then each [`Request::Questions`] gets a [`Message::Reply`], and
//! [`Request::End`] a [`Message::Ended`].

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::results::Clock;

/// Values by their names.
pub(crate) type Counters = Vec<(String, u64)>;

/// What the bench asks of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Prepare this case.
    Case(Case),
    /// Answer these questions of the case, by number.
    Questions(Range<usize>),
    /// The case is done.
    End,
}

/// A case of a linked package.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) package: String,
    /// What is asked, in the form that the package's adapter reads.
    pub(crate) questions: Value,
}

/// What a worker says; `A` is the type of an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message<A> {
    /// The graph is in memory.
    Loaded,
    /// The case is prepared.
    Ready(Ready),
    /// The answers to some questions.
    Reply(Reply<A>),
    /// The case is done; these counters came up in it.
    Ended(Counters),
    /// An answer does not hold.
    Wrong(String),
    /// A call failed.
    Failed(String),
}

/// A program that is ready to answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// The algorithm, or the program with its version.
    pub(crate) name: String,
    /// The engine that runs it.
    pub(crate) ran_on: Option<String>,
    pub(crate) clock: Clock,
    /// Seconds of what was made once for all questions of the case.
    pub(crate) prepare: f64,
    /// Parts of `prepare`, and other numbers.
    pub(crate) counters: Counters,
    /// The most questions at once.
    pub(crate) at_once: usize,
}

/// The answers to some questions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply<A> {
    /// What the program's calls took.
    pub(crate) seconds: f64,
    pub(crate) answers: Vec<A>,
}
