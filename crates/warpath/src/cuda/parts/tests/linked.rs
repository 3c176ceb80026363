//! Searches of parts whose devices are linked: each part on a thread of its own, and messages that go through the memory of this process.
//!
//! *Invariants.* Addresses and lengths are those that a link tells its carrier, of slices of the device's memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::*;
use crate::cuda::parts::messages::{DeviceMessages, Piece, words_at, write_words};

/// By what they are about, and from which part to which they go.
type Letters = HashMap<(Kind, usize, usize), VecDeque<Vec<u64>>>;

/// Letters between the threads.
#[derive(Debug, Default)]
struct Post {
    letters: Mutex<Letters>,
    came: Condvar,
}

/// What a letter is about; letters of one kind come in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// What the parts tell each other.
    Told,
    /// What goes from device to device.
    Carried,
}

impl Post {
    fn send(&self, kind: Kind, from: usize, to: usize, letter: Vec<u64>) {
        self.letters.lock().unwrap().entry((kind, from, to)).or_default().push_back(letter);
        self.came.notify_all();
    }

    fn receive(&self, kind: Kind, from: usize, to: usize) -> Vec<u64> {
        let letters = self.letters.lock().unwrap();
        let is_missing =
            |letters: &mut HashMap<_, VecDeque<_>>| letters.entry((kind, from, to)).or_default().is_empty();
        let (mut letters, waited) = self.came.wait_timeout_while(letters, Duration::from_secs(60), is_missing).unwrap();
        assert!(!waited.timed_out(), "part {to} waits for {kind:?} of part {from}");
        letters.get_mut(&(kind, from, to)).unwrap().pop_front().unwrap()
    }

    /// What each part says, for all of them.
    fn gather(&self, kind: Kind, me: usize, count: usize, mine: &[u64]) -> Vec<Vec<u64>> {
        (0..count).for_each(|to| self.send(kind, me, to, mine.to_vec()));
        (0..count).map(|from| self.receive(kind, from, me)).collect()
    }

    /// What each part announces to this one.
    fn announce(&self, me: usize, mine: &[Announced]) -> Vec<Announced> {
        for (to, part) in mine.iter().enumerate() {
            self.send(Kind::Told, me, to, vec![part.words as u64, part.room as u64]);
        }
        let coming = (0..mine.len()).map(|from| self.receive(Kind::Told, from, me));
        coming.map(|numbers| Announced { words: numbers[0] as usize, room: numbers[1] as usize }).collect()
    }
}

/// What carries the messages of one part.
#[derive(Debug)]
struct InProcess {
    post: Arc<Post>,
    me: usize,
    count: usize,
    device: Arc<dyn Device>,
}

impl DeviceMessages for InProcess {
    unsafe fn exchange(&self, sent: &[Piece], received: &[Piece]) -> Result<()> {
        for piece in sent {
            // SAFETY: the caller promises that the device has that many words there.
            let words = unsafe { words_at(&*self.device, piece.address, piece.words) }?;
            self.post.send(Kind::Carried, self.me, piece.peer, words.into_iter().map(u64::from).collect());
        }
        received.iter().try_for_each(|piece| {
            let words: Vec<u32> =
                self.post.receive(Kind::Carried, piece.peer, self.me).into_iter().map(|word| word as u32).collect();
            assert_eq!(words.len(), piece.words, "parts cut their words into other pieces");
            // SAFETY: as above.
            unsafe { write_words(&*self.device, piece.address, &words) }
        })
    }

    fn least(&self, numbers: &mut [u64]) -> Result<()> {
        let all = self.post.gather(Kind::Carried, self.me, self.count, numbers);
        for (place, number) in numbers.iter_mut().enumerate() {
            *number = all.iter().map(|of| of[place]).min().unwrap();
        }
        Ok(())
    }
}

/// What each part finds on a thread of its own.
fn on_threads<T: Send>(devices: &[Arc<dyn Device>], part: impl Fn(usize, &Post, &PartLink) -> T + Sync) -> Vec<T> {
    let (post, count) = (Arc::new(Post::default()), devices.len());
    std::thread::scope(|scope| {
        let run = |me| {
            let (post, part) = (post.clone(), &part);
            scope.spawn(move || {
                let messages = InProcess { post: post.clone(), me, count, device: devices[me].clone() };
                let link = PartLink::through(Box::new(messages), count).unwrap();
                part(me, &post, &link)
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Searches; in each level in the direction that a random number says.
fn levels(devices: &[Arc<dyn Device>], parts: &Parts<Unit>, sources: &[VertexId], often: u64, seed: u64) -> Vec<u32> {
    let count = parts.parts.len();
    let states = on_threads(devices, |me, post, link| {
        let mut search = BfsPart::on(&devices[me], &parts.rows(me)).unwrap();
        // The same on all threads.
        let mut random = Random(seed);
        for sources in [&sources[..1], sources] {
            search.start(&parts.sources_of(me, sources)).unwrap();
            loop {
                let (vertices, _) = search.frontier().unwrap();
                if post.gather(Kind::Told, me, count, &[vertices]).iter().all(|vertices| vertices[0] == 0) {
                    break;
                }
                if random.below(3) < often {
                    let announced = search.tell_packed().unwrap();
                    let coming = post.announce(me, &announced);
                    search.exchange_told(link, [&announced, &coming]).unwrap();
                } else {
                    let announced = search.expand_packed().unwrap();
                    let coming = post.announce(me, &announced);
                    search.exchange_met(link, [&announced, &coming]).unwrap();
                }
                let found = post.gather(Kind::Told, me, count, &search.found_hubs().unwrap());
                let any = |word: usize| found.iter().fold(0, |any, of| any | of[word]);
                search.advance(&(0..found[me].len()).map(any).collect::<Vec<u64>>()).unwrap();
            }
        }
        search.levels().unwrap()
    });
    parts.joined(&states)
}

/// Searches below bounds that ascend by `step`.
fn distances<L: MinPlus>(
    devices: &[Arc<dyn Device>],
    parts: &Parts<L::Weight>,
    sources: &[VertexId],
    step: f64,
) -> Vec<L::Distance>
where
    L::Weight: TestWeight + Sync,
{
    let count = parts.parts.len();
    let states = on_threads(devices, |me, post, link| {
        let mut search = SsspPart::<L>::on(&devices[me], &parts.rows(me), &parts.parts[me].weights).unwrap();
        for sources in [&sources[..1], sources] {
            search.start(&parts.sources_of(me, sources)).unwrap();
            loop {
                let (nearest, _) = search.news().unwrap();
                let mine = nearest.map_or(f64::INFINITY, |nearest| nearest.to_f64());
                let told = post.gather(Kind::Told, me, count, &[mine.to_bits()]);
                let nearest = told.iter().map(|bits| f64::from_bits(bits[0])).fold(f64::INFINITY, f64::min);
                if nearest == f64::INFINITY {
                    break;
                }
                // The bound is above the nearest, also where distances are so large that a step is nothing.
                let bound = L::Distance::at_most_float(nearest + step);
                let bound = if bound.to_f64() > nearest { bound } else { L::Distance::UNREACHABLE };
                search.relax(bound, 3.0).unwrap();
                let announced = search.pack_mail().unwrap();
                let coming = post.announce(me, &announced);
                search.exchange_mail(link, [&announced, &coming]).unwrap();
                if !parts.hubs.is_empty() {
                    search.exchange_hubs(link).unwrap();
                }
            }
        }
        search.distances().unwrap()
    });
    parts.joined(&states)
}

#[test]
fn levels_of_linked_parts_are_those_of_the_whole_graph() {
    let mut random = Random(23);
    for (name, graph) in graphs_of_every_shape::<Unit>(3).into_iter().step_by(size(4, 20)) {
        if graph.vertices() == 0 || graph.arcs() > 2000 {
            continue;
        }
        let count = 1 + random.below(4) as usize;
        let weights = vec![Unit; graph.arcs()];
        let parts = Parts::<Unit>::of(&graph, count, 1 + random.below(12) as usize, &weights);
        let sources: Vec<VertexId> =
            (0..1 + random.below(3)).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
        let right = expected::<UnitToU32>(&graph, &weights, &sources);
        let often = if graph.is_directed() { 0 } else { random.below(4) };
        for devices in testing::several(count, 5) {
            let found = levels(&devices, &parts, &sources, often, random.below(1000));
            assert_eq!(found, right, "{name}, {count} parts, {} hubs", parts.hubs.len());
        }
    }
}

fn check_weights<L: MinPlus>(seed: u64)
where
    L::Weight: TestWeight + Sync,
{
    let mut random = Random(seed);
    for (name, graph) in graphs_of_every_shape::<L::Weight>(seed).into_iter().step_by(size(9, 20)) {
        if graph.vertices() == 0 || graph.arcs() > 2000 || graph.has_negative_weights() {
            continue;
        }
        let weights: &[L::Weight] = with_weights!(graph.csr().weights(), weights => {
            (weights as &dyn std::any::Any).downcast_ref::<Vec<L::Weight>>().unwrap()
        });
        let count = 1 + random.below(4) as usize;
        let parts = Parts::of(&graph, count, 1 + random.below(12) as usize, weights);
        let sources: Vec<VertexId> = (0..2).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
        let step = [1.0, 40.0, 1e12][random.below(3) as usize];
        let right = expected::<L>(&graph, weights, &sources);
        for devices in testing::several(count, seed) {
            let found = distances::<L>(&devices, &parts, &sources, step);
            let what = format!("{name}, {count} parts, {} hubs, step {step}, {}", parts.hubs.len(), L::NAME);
            assert_eq!(found, right, "{what}");
        }
    }
}

#[test]
fn distances_of_linked_parts_are_those_of_the_whole_graph() {
    check_weights::<U32ToU32>(13);
    check_weights::<U32ToU64>(14);
    check_weights::<F32ToF32>(15);
    check_weights::<F64ToF64>(16);
}

#[test]
fn a_part_that_failed_gets_and_sends_nothing() {
    let graph = crate::generate::generate("kron:7").unwrap();
    let parts = Parts::<Unit>::of(&graph, 2, 1000, &vec![Unit; graph.arcs()]);
    for devices in testing::several(2, 1) {
        let sources: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
        on_threads(&devices, |me, post, link| {
            let mut search = BfsPart::on(&devices[me], &parts.rows(me)).unwrap();
            search.start(&parts.sources_of(me, &sources)).unwrap();
            if me == 1 {
                post.announce(me, &[Announced::default(); 2]);
                return;
            }
            let announced = search.expand_packed().unwrap();
            assert!(announced[1].words > 0 && announced.iter().all(|part| part.room > 0));
            let coming = post.announce(me, &announced);
            search.exchange_met(link, [&announced, &coming]).unwrap();
            assert!(
                post.letters.lock().unwrap().iter().all(|((kind, ..), left)| *kind == Kind::Told || left.is_empty())
            );
        });
    }
}

/// NCCL itself, where it and a GPU are there: a part that is linked with itself.
#[cfg(feature = "cuda")]
#[test]
fn nccl_carries_words() {
    use crate::cuda::device::memory::Pool;

    let place = PartDevice { ordinal: 0, threads: 1 };
    if let Err(error) = crate::cuda::devices().and_then(|_| PartLink::available()) {
        println!("NCCL is not tested: {error}");
        assert!(PartLink::available().is_ok() || CarrierKey::new().is_err());
        assert!(PartLink::open(place, &CarrierKey::of_words(&[]), 0, 1).is_err());
        return;
    }
    let key = CarrierKey::new().unwrap();
    assert_eq!(CarrierKey::of_words(&key.words()), key);
    let link = PartLink::open(place, &key, 0, 1).unwrap();
    let device = place.open().unwrap();
    let mut pool = Pool::new(&device, 1 << 20).unwrap();
    let words: Vec<u32> = (0..1000).map(|word| word * 7 + 1).collect();
    let sent = pool.take_filled(&words).unwrap();
    let room = pool.take::<u32>(1000).unwrap();
    // In four rounds, the last of which is shorter.
    let announced = [Announced { words: 1000, room: 300 }];
    let mut came = Vec::new();
    let take = |count: usize| {
        came.extend(pool.read(room.part(0, count as u64))?);
        Ok(())
    };
    link.exchange(&pool, sent, [&announced, &announced], room, |_, before| before, take).unwrap();
    assert_eq!(came, words);
    for words_of_number in [1, 2] {
        pool.fill(room, 0).unwrap();
        link.least(&pool, sent, room, words_of_number).unwrap();
        assert_eq!(pool.read(room).unwrap(), words);
    }
    // A device that did not join.
    for device in testing::devices(1) {
        let mut pool = Pool::new(&device, 1 << 12).unwrap();
        let [of, to] = [(); 2].map(|()| pool.take::<u32>(4).unwrap());
        assert!(link.least(&pool, of, to, 1).is_err());
    }
}
