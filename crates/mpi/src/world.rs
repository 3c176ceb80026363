//! The ranks: what they send each other, what it costs, and how all of them end together.
//!
//! Every message is a list of 32-bit words, and every exchange is collective: all ranks call the same method in the same order.
//! An exchange has two steps. The first tells each rank how many words will come; the time until it returns is the wait for the
//! slowest rank. The second carries the words, unless all messages of all ranks are so short that they came with the first.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::time::{Duration, Instant};

use mpi::collective::{CommunicatorCollectives, Root, SystemOperation};
use mpi::datatype::{Equivalence, Partition, PartitionMut};
use mpi::environment::{Threading, Universe};
use mpi::topology::{Color, Communicator, SimpleCommunicator};
use warpath::parts::{Announced, PartLink, PartMail};
use warpath::{Control, Error, ErrorKind, Result};

use crate::allocation::with_capacity;
use crate::messages::RankMessages;
use crate::reduced::Reduced;
use crate::watch::{Leisure, Watch};
use crate::words::{pull, push};

/// How long a rank waits for the others before it ends the run, if nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// Why work that all ranks do together ended.
#[derive(Debug)]
pub enum Failed {
    /// This rank has to report it: it is the lowest rank that failed.
    Here(Error),
    /// Another rank reports it. An error of this kind decides the code that the process ends with.
    Elsewhere(ErrorKind),
}

impl Failed {
    /// Who can do something about the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Failed::Here(error) => error.kind(),
            Failed::Elsewhere(kind) => *kind,
        }
    }
}

/// The result of work that all ranks do together: all succeed, or all fail.
pub type Outcome<T> = std::result::Result<T, Failed>;

/// What a rank has sent, and how long that took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// Bytes that this rank sent to other ranks in exchanges.
    pub bytes: u64,
    /// Messages with at least one word that it sent to other ranks in exchanges.
    pub messages: u64,
    /// Bytes that it gave to reductions, which MPI carries in about log2(ranks) steps.
    pub reduced_bytes: u64,
    /// How many times the ranks met: exchanges and reductions.
    pub meetings: u64,
    /// Seconds while words were carried.
    pub exchange: f64,
    /// Seconds that this rank waited for others.
    pub wait: f64,
}

impl Traffic {
    /// What was sent since an earlier state.
    pub fn since(&self, before: &Traffic) -> Traffic {
        Traffic {
            bytes: self.bytes - before.bytes,
            messages: self.messages - before.messages,
            reduced_bytes: self.reduced_bytes - before.reduced_bytes,
            meetings: self.meetings - before.meetings,
            exchange: self.exchange - before.exchange,
            wait: self.wait - before.wait,
        }
    }
}

/// All ranks of an MPI run, seen from one of them. MPI ends when it is dropped.
///
/// ```no_run
/// let world = warpath_mpi::World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new())?;
/// println!("rank {} of {}", world.rank(), world.ranks());
/// # Ok::<(), warpath::Error>(())
/// ```
pub struct World {
    communicator: SimpleCommunicator,
    rank: usize,
    ranks: usize,
    traffic: Cell<Traffic>,
    watch: Watch,
    /// The most words that go to one rank at a time: MPI counts with 31 bits.
    most_words: Cell<usize>,
    /// What goes to each rank in the first step of an exchange, and what comes.
    slots: RefCell<[Vec<u64>; 2]>,
    /// What carries messages between GPUs.
    pub(crate) messages: Cell<RankMessages>,
    /// What links the GPUs of the ranks, once they are linked, and what does.
    pub(crate) link: OnceCell<(PartLink, RankMessages)>,
    // Dropped last: it ends MPI.
    _universe: Universe,
}

impl Drop for World {
    fn drop(&mut self) {
        // MPI would wait for the other ranks, which wait for this one.
        if std::thread::panicking() {
            warpath::formats::remove_partial_files();
            self.communicator.abort(PANICKED);
        }
    }
}

/// The code that all ranks end with if one panics,
const PANICKED: i32 = 101;
/// and if one fails while the others wait for it outside of MPI: resources are missing.
const FAILED: i32 = 3;

/// Numbers that a rank tells all others in the first step of an exchange.
pub(crate) const NEWS: usize = 3;

/// What goes from one rank to another in the first step of an exchange: how many words will come, in how many rounds the words of the rank are
/// carried, its news, and the words if there are few.
const SLOT: usize = 16;
const WORDS_IN_SLOT: usize = 2 * (SLOT - 2 - NEWS);

/// How values of all ranks become one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reduction {
    Sum,
    Least,
    Greatest,
    Or,
}

impl World {
    /// Starts MPI. A process that no launcher started is the only rank. A rank that waits longer than `timeout` for the others prints
    /// an error and ends with code 3, and one whose work is cancelled ends with code 130; the launcher then ends all ranks.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if MPI runs in this process already.
    pub fn start(timeout: Duration, control: &Control) -> Result<Self> {
        const MOST_WORDS: usize = 1 << 28;
        let started = mpi::environment::initialize_with_threading(Threading::Funneled);
        let (universe, _) = started.ok_or_else(|| Error::invalid("MPI runs in this process already"))?;
        let communicator = universe.world();
        let (rank, ranks) = (communicator.rank() as usize, communicator.size() as usize);
        let watch = Watch::start(timeout, control, [rank, ranks])?;
        let most_words = Cell::new((MOST_WORDS / ranks).max(1));
        Ok(World {
            communicator,
            rank,
            ranks,
            traffic: Cell::default(),
            watch,
            most_words,
            slots: RefCell::default(),
            messages: Cell::default(),
            link: OnceCell::new(),
            _universe: universe,
        })
    }

    /// Another communicator of all ranks.
    pub(crate) fn duplicate(&self) -> SimpleCommunicator {
        let _watched = self.watch.waits();
        self.communicator.duplicate()
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// How many ranks the host of this rank has.
    pub fn ranks_on_host(&self) -> u64 {
        self.place_on_host().1
    }

    /// The place of this rank among those of its host, and how many these are.
    pub(crate) fn place_on_host(&self) -> (u64, u64) {
        let _watched = self.watch.waits();
        let host = self.communicator.split_shared(self.rank as i32);
        (host.rank() as u64, host.size() as u64)
    }

    /// The ranks of one color, in the order of their keys.
    pub(crate) fn split(&self, color: usize, key: usize) -> SimpleCommunicator {
        let _watched = self.watch.waits();
        let part = self.communicator.split_by_color_with_key(Color::with_value(color as i32), key as i32);
        part.expect("a rank with a color is in a part")
    }

    /// Gives some ranks the values that one of them has.
    pub(crate) fn broadcast_among<T: Equivalence>(&self, ranks: &SimpleCommunicator, from: usize, values: &mut [T]) {
        let bytes = if ranks.rank() as usize == from { size_of_val(values) as u64 } else { 0 };
        self.wait_for(bytes, || ranks.process_at_rank(from as i32).broadcast_into(values));
    }

    /// Waits in MPI, once for what this rank sends, so many bytes, and for what others do.
    pub(crate) fn wait_for(&self, bytes: u64, wait: impl FnOnce()) {
        let start = Instant::now();
        let watched = self.watch.waits();
        wait();
        drop(watched);
        self.tally(|traffic| {
            traffic.bytes += bytes;
            traffic.messages += u64::from(bytes > 0);
            traffic.meetings += 1;
            traffic.wait += start.elapsed().as_secs_f64();
        });
    }

    /// Lets something else than MPI carry words from rank to rank. The ranks tell each other what is `announced`, and `carry` gets that, and what
    /// each announced to this one. A rank that has nothing to announce since it failed sends and takes nothing. If `carry` fails, all ranks end.
    ///
    /// # Errors
    ///
    /// Why nothing was announced.
    pub(crate) fn exchange_by(
        &self,
        announced: Result<Vec<Announced>>,
        carry: impl FnOnce([&[Announced]; 2]) -> Result<()>,
    ) -> Result<()> {
        let start = Instant::now();
        let nothing = || vec![Announced::default(); self.ranks];
        let (mine, failure) = announced.map_or_else(|error| (nothing(), Some(error)), |mine| (mine, None));
        let told: Vec<u64> = mine.iter().flat_map(|part| [part.words as u64, part.room as u64]).collect();
        let mut came = vec![0_u64; told.len()];
        let watched = self.watch.waits();
        self.communicator.all_to_all_into(&told[..], &mut came[..]);
        let waited = Instant::now();
        let coming: Vec<Announced> = came
            .chunks_exact(2)
            .map(|numbers| Announced { words: numbers[0] as usize, room: numbers[1] as usize })
            .collect();
        if failure.is_none() {
            carry([&mine, &coming]).unwrap_or_else(|error| self.end_all(&error));
        }
        drop(watched);
        let sent = || mine.iter().enumerate().filter(|(rank, part)| *rank != self.rank && part.words > 0);
        self.tally(|traffic| {
            traffic.bytes += sent().map(|(_, part)| 4 * part.words as u64).sum::<u64>();
            traffic.messages += sent().count() as u64;
            traffic.meetings += 1;
            traffic.wait += (waited - start).as_secs_f64();
            traffic.exchange += waited.elapsed().as_secs_f64();
        });
        failure.map_or(Ok(()), Err)
    }

    /// Lets something else than MPI reduce so many bytes of each rank. If that fails, all ranks end.
    pub(crate) fn reduce_by(&self, bytes: u64, reduce: impl FnOnce() -> Result<()>) {
        let start = Instant::now();
        let watched = self.watch.waits();
        reduce().unwrap_or_else(|error| self.end_all(&error));
        drop(watched);
        self.tally(|traffic| {
            traffic.reduced_bytes += bytes;
            traffic.meetings += 1;
            traffic.wait += start.elapsed().as_secs_f64();
        });
    }

    /// Ends all ranks for an error of this one, which the others could not hear of: they wait for it outside of MPI.
    pub(crate) fn end_all(&self, error: &Error) -> ! {
        eprintln!("error: rank {}: {error}", self.rank);
        warpath::formats::remove_partial_files();
        self.communicator.abort(FAILED)
    }

    /// What this rank has sent so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    /// Lets at most so many words go to one rank at a time, so that tests see exchanges in several rounds.
    pub fn limit_words(&self, words: usize) {
        self.most_words.set(words.max(1));
    }

    /// Waits for a result of every rank. If any failed, all fail: the lowest of these ranks with its error, the others without.
    ///
    /// # Errors
    ///
    /// If any rank failed.
    pub fn agree<T>(&self, result: Result<T>) -> Outcome<T> {
        const KINDS: [ErrorKind; 4] =
            [ErrorKind::Usage, ErrorKind::Answer, ErrorKind::Resources, ErrorKind::Interrupted];
        let number = |kind: ErrorKind| KINDS.iter().position(|&other| other == kind).unwrap_or(0) as u64;
        let mine = result.as_ref().err().map_or(u64::MAX, |error| (self.rank as u64) << 8 | number(error.kind()));
        let least = self.reduce(Reduction::Least, mine);
        match result {
            Ok(value) if least == u64::MAX => Ok(value),
            Err(error) if least == mine => Err(Failed::Here(error)),
            _ => Err(Failed::Elsewhere(KINDS[(least & 3) as usize])),
        }
    }

    /// The same after work that each rank did on its own: others may take longer than the timeout alone allows.
    ///
    /// # Errors
    ///
    /// As [`World::agree`].
    pub(crate) fn agree_at_leisure<T>(&self, result: Result<T>, leisure: Leisure<'_>) -> Outcome<T> {
        let watched = self.watch.waits_at(leisure);
        self.communicator.barrier();
        drop(watched);
        self.agree(result)
    }

    /// Waits until every rank is here: what a rank did before, such as report an error, is done when another goes on.
    pub fn meet(&self) {
        self.wait_for(0, || self.communicator.barrier());
    }

    /// For each place the greatest number of all ranks, whose lists are equally long.
    pub fn greatest_of_each(&self, mut mine: Vec<u64>) -> Vec<u64> {
        self.reduce_all(Reduction::Greatest, &mut mine);
        mine
    }

    /// Whether a rank says yes.
    pub(crate) fn any(&self, mine: bool) -> bool {
        self.reduce(Reduction::Greatest, u64::from(mine)) == 1
    }

    /// One number made of those of all ranks.
    pub(crate) fn reduce(&self, reduction: Reduction, mine: u64) -> u64 {
        let mut values = [mine];
        self.reduce_all(reduction, &mut values);
        values[0]
    }

    /// Replaces each number by the one that is made of those at the same place of all ranks.
    pub(crate) fn reduce_all<T: Reduced>(&self, reduction: Reduction, values: &mut [T]) {
        const AT_ONCE: usize = 1 << 24;
        let start = Instant::now();
        let _watched = self.watch.waits();
        for values in values.chunks_mut(AT_ONCE) {
            reduce_among(&self.communicator, reduction, values);
        }
        self.tally(|traffic| {
            traffic.reduced_bytes += size_of_val(values) as u64;
            traffic.meetings += 1;
            traffic.wait += start.elapsed().as_secs_f64();
        });
    }

    /// Sends each rank its words, and returns those that came from each. A rank that could not make its words sends none.
    ///
    /// # Errors
    ///
    /// Why the words could not be made, or [`Error::OutOfMemory`]; the ranks have then met, so that they may agree on it.
    pub(crate) fn exchange(&self, outgoing: Result<Vec<Vec<u32>>>) -> Result<PartMail> {
        let (mut mail, mut incoming) = (PartMail::default(), PartMail::default());
        let made = outgoing.and_then(|outgoing| outgoing.into_iter().try_for_each(|words| mail.add(words)));
        self.exchange_mail(made, &mut mail, &mut incoming)?;
        Ok(incoming)
    }

    /// The same with memory that serves one exchange after another. `mail` has the words for each rank, if they were `made`.
    ///
    /// # Errors
    ///
    /// As [`World::exchange`].
    pub(crate) fn exchange_mail(&self, made: Result<()>, mail: &mut PartMail, incoming: &mut PartMail) -> Result<()> {
        self.exchange_with_news(made, mail, incoming, [0; NEWS]).1
    }

    /// The same; also gives all ranks some numbers of each, and returns those.
    ///
    /// # Errors
    ///
    /// As [`World::exchange`]; the numbers have come nevertheless.
    pub(crate) fn exchange_with_news(
        &self,
        made: Result<()>,
        mail: &mut PartMail,
        incoming: &mut PartMail,
        news: [u64; NEWS],
    ) -> (Vec<[u64; NEWS]>, Result<()>) {
        let made = made.or_else(|error| mail.make_room(std::iter::repeat_n(0, self.ranks)).and(Err(error)));
        let (all, carried) = self.exchange_all(mail, incoming, news);
        (all, carried.and(made))
    }

    fn exchange_all(
        &self,
        mail: &PartMail,
        incoming: &mut PartMail,
        news: [u64; NEWS],
    ) -> (Vec<[u64; NEWS]>, Result<()>) {
        let start = Instant::now();
        let most = self.most_words.get();
        let few = most.min(WORDS_IN_SLOT);
        let sent: Vec<&[u32]> = (0..self.ranks).map(|rank| mail.of(rank)).collect();
        let is_long = |words: &&&[u32]| words.len() > few;
        let rounds_here = sent.iter().filter(is_long).map(|words| words.len().div_ceil(most)).max().unwrap_or(0);
        let mut slots = self.slots.borrow_mut();
        let [going, coming] = &mut *slots;
        going.clear();
        for words in &sent {
            going.extend([words.len() as u64, rounds_here as u64]);
            going.extend(news);
            let mut few_words = [0_u64; WORDS_IN_SLOT / 2];
            if !is_long(&words) {
                bytemuck::cast_slice_mut(&mut few_words)[..words.len()].copy_from_slice(words);
            }
            going.extend(few_words);
        }
        coming.resize(SLOT * self.ranks, 0);
        let watched = self.watch.waits();
        self.communicator.all_to_all_into(&going[..], &mut coming[..]);
        let waited = Instant::now();
        let lengths: Vec<usize> = coming.chunks_exact(SLOT).map(|slot| slot[0] as usize).collect();
        let rounds = coming.chunks_exact(SLOT).map(|slot| slot[1]).max().unwrap_or(0) as usize;
        let all_news = coming.chunks_exact(SLOT).map(|slot| std::array::from_fn(|index| slot[2 + index])).collect();
        let counts: Vec<usize> = sent.iter().map(|words| words.len()).collect();
        let room = incoming.make_room(lengths.iter().copied());
        let carried = match (rounds, room) {
            (0, Ok(mut room)) => {
                for (slot, &length) in coming.chunks_exact(SLOT).zip(&lengths) {
                    let (words, later) = room.split_at_mut(length);
                    words.copy_from_slice(&bytemuck::cast_slice(&slot[2 + NEWS..])[..length]);
                    room = later;
                }
                Ok(())
            }
            (0, Err(error)) => Err(error),
            (1, Ok(room)) => {
                self.carry(mail.words(), &counts, room, &lengths);
                Ok(())
            }
            // A rank without room takes part, since the others send.
            (_, room) => self.carry_in_rounds(rounds, &sent, room, &lengths),
        };
        drop(watched);
        let to_others = || sent.iter().enumerate().filter(|(rank, words)| *rank != self.rank && !words.is_empty());
        self.tally(|traffic| {
            traffic.bytes += to_others().map(|(_, words)| size_of_val(&words[..]) as u64).sum::<u64>();
            traffic.messages += to_others().count() as u64;
            traffic.meetings += 1;
            traffic.wait += (waited - start).as_secs_f64();
            traffic.exchange += waited.elapsed().as_secs_f64();
        });
        (all_news, carried)
    }

    /// An exchange in rounds, of pieces that MPI's counts have room for. Without room what comes is left out.
    fn carry_in_rounds(
        &self,
        rounds: usize,
        sent: &[&[u32]],
        room: Result<&mut [u32]>,
        lengths: &[usize],
    ) -> Result<()> {
        let most = self.most_words.get();
        let piece = |round: usize, length: usize| (round * most).min(length)..((round + 1) * most).min(length);
        let (mut room, refused) = match room {
            Ok(room) => (Some(room), None),
            Err(error) => (None, Some(error)),
        };
        for round in 0..rounds {
            let pieces: Vec<&[u32]> = sent.iter().map(|words| &words[piece(round, words.len())]).collect();
            let counts: Vec<usize> = pieces.iter().map(|words| words.len()).collect();
            let came: Vec<usize> = lengths.iter().map(|&length| piece(round, length).len()).collect();
            let mut received = vec![0; came.iter().sum()];
            self.carry(&pieces.concat(), &counts, &mut received, &came);
            let (mut start, mut left) = (0, &received[..]);
            for &length in lengths {
                let (part, rest) = left.split_at(piece(round, length).len());
                if let Some(room) = &mut room {
                    room[start..][piece(round, length)].copy_from_slice(part);
                }
                (start, left) = (start + length, rest);
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Sends each rank so many words, one after another, and takes so many from each.
    fn carry(&self, sent: &[u32], sent_counts: &[usize], received: &mut [u32], came_counts: &[usize]) {
        let counts = |lengths: &[usize]| lengths.iter().map(|&length| length as i32).collect::<Vec<i32>>();
        let displacements = |counts: &[i32]| {
            let before = counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count)));
            before.collect::<Vec<i32>>()
        };
        let (sent_counts, came_counts) = (counts(sent_counts), counts(came_counts));
        let (sent_at, came_at) = (displacements(&sent_counts), displacements(&came_counts));
        let partition = Partition::new(sent, sent_counts, sent_at);
        let mut places = PartitionMut::new(received, came_counts, came_at);
        self.communicator.all_to_all_varcount_into(&partition, &mut places);
    }

    /// The words of all ranks, in the order of the ranks, for each rank.
    ///
    /// # Errors
    ///
    /// As [`World::exchange`].
    pub(crate) fn gather(&self, words: &[u32]) -> Result<PartMail> {
        let copies = || {
            let mut outgoing = with_capacity("words for other ranks", self.ranks)?;
            outgoing.resize(self.ranks, words.to_vec());
            Ok(outgoing)
        };
        self.exchange(copies())
    }

    /// Whether all ranks have the same number.
    pub fn are_equal(&self, mine: u64) -> bool {
        let (least, greatest) = (self.reduce(Reduction::Least, mine), self.reduce(Reduction::Greatest, mine));
        least == greatest
    }

    /// An error if a file has not the same fingerprint on all hosts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`]; and why a rank has no fingerprint.
    pub fn same_file(&self, path: &Path, fingerprint: Result<u64>) -> Outcome<()> {
        let fingerprint = self.agree(fingerprint)?;
        self.agree(if self.are_equal(fingerprint) {
            Ok(())
        } else {
            Err(Error::invalid(format!("{}: the file is another one on another host", path.display())))
        })
    }

    /// The sum of the numbers of all ranks.
    pub fn total(&self, mine: u64) -> u64 {
        self.reduce(Reduction::Sum, mine)
    }

    /// The sum of the numbers of all lower ranks.
    ///
    /// # Errors
    ///
    /// As [`World::exchange`].
    pub(crate) fn sum_before(&self, mine: u64) -> Result<u64> {
        let mut words = Vec::new();
        push(&mut words, mine);
        let all = self.gather(&words)?;
        Ok((0..self.rank).map(|rank| pull::<u64>(all.of(rank))).sum())
    }

    /// The words of rank 0, for each rank.
    pub(crate) fn broadcast(&self, words: &mut Vec<u64>) {
        let start = Instant::now();
        let _watched = self.watch.waits();
        let root = self.communicator.process_at_rank(0);
        let mut length = [words.len() as u64];
        root.broadcast_into(&mut length[..]);
        words.resize(length[0] as usize, 0);
        root.broadcast_into(&mut words[..]);
        self.tally(|traffic| {
            traffic.meetings += 1;
            traffic.wait += start.elapsed().as_secs_f64();
        });
    }

    fn tally(&self, add: impl FnOnce(&mut Traffic)) {
        let mut traffic = self.traffic.get();
        add(&mut traffic);
        self.traffic.set(traffic);
    }
}

/// Replaces each number by the one that is made of those at the same place of all ranks of a communicator: no more than MPI's counts have room for.
pub(crate) fn reduce_among<T: Reduced>(communicator: &SimpleCommunicator, reduction: Reduction, values: &mut [T]) {
    let ordered = |operation: SystemOperation, values: &mut [T]| {
        let mine: Vec<T::Ordered> = values.iter().map(|value| value.ordered()).collect();
        let mut all = mine.clone();
        communicator.all_reduce_into(&mine[..], &mut all[..], operation);
        values.iter_mut().zip(all).for_each(|(value, one)| *value = T::of_ordered(one));
    };
    let as_they_are = |operation: SystemOperation, values: &mut [T]| {
        let mine = values.to_vec();
        communicator.all_reduce_into(&mine[..], values, operation);
    };
    match reduction {
        Reduction::Sum => as_they_are(SystemOperation::sum(), values),
        Reduction::Or => as_they_are(SystemOperation::bitwise_or(), values),
        Reduction::Least => ordered(SystemOperation::min(), values),
        Reduction::Greatest => ordered(SystemOperation::max(), values),
    }
}
