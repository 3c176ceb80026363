//! Several devices that search together: which vertices each has, how their kernels meet, and the launch of all of them.
//!
//! Vertices are shared out in one dimension: a device has those of one range, with the arcs that leave them. Ranges begin at
//! multiples of 128 vertices and have about the same number of arcs. Kernels read bits and letters in each other's memory, and
//! meet without the host; `kernels/peers.cuh` is the other half.
//!
//! Devices without access to each other's memory *exchange through the host's*: letters lie in pinned memory, and there each kernel
//! publishes, before a meeting, what the others read after it. The host's processor takes no part in it.
//!
//! A kernel that waits for one that never comes looks at a flag of the host, which is set when a search is cancelled, when a launch
//! fails, and when a device is lost. Meetings are numbered through all searches, so nobody takes an old letter for a new one.
//!
//! *Invariants.* A kernel gets addresses of the memory of all devices, which reach each other, or of pinned memory; both live as long as
//! what is prepared.

pub(crate) mod company;
mod host_mail;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use self::company::{MOST, is_through_host, parts_of};
use self::host_mail::HostMail;
use super::device::arena::Arena;
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Argument, Device, Function, Launch, LaunchShape};
use super::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use super::launch::{Waiting, finish_all};
use crate::algorithms::Parameters;
use crate::graph::{Graph, VertexId};
use crate::{Control, Error, Result};

kernel_header! {
    path: "peers";
    namespace: peers;
    constants {
        /// More devices do not search together.
        const MOST_DEVICES: u32 = MOST as u32;
        /// Numbers of a letter that are added up.
        const TOLD: u32 = 5;
    }
    /// What a device tells the others at a meeting.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Letter {
        /// These are added up,
        sums: [u64; TOLD as usize],
        /// and the least of these counts.
        least: u64,
        /// Of the meeting; written last.
        number: u64,
    }

    /// Where the blocks of a device meet, in its memory.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Meeting {
        /// What the devices told at the last meeting. Its number is written last.
        joined: Letter,
        /// Blocks that have come, but for the first one.
        arrivals: u32,
        /// Whether all devices came.
        have_come: u32,
    }

    /// The devices that search together, as one of them sees them.
    pub(super) struct Peers {
        /// Two letters from each device, for each.
        pub(super) mail: [DeviceMutPtr<Letter>; 8],
        /// Five arrays of each device, where others read them.
        pub(super) arrays: [DevicePtr<u32>; 40],
        /// Where this device publishes its arrays; null if others read them where they are.
        pub(super) published: [DeviceMutPtr<u32>; 5],
        pub(super) here: DeviceMutPtr<Meeting>,
        /// Set by the host if nobody should wait any more.
        pub(super) given_up: DevicePtr<u32>,
        /// Of the last meeting before the launch.
        pub(super) number: u64,
        /// The first vertex of each device, and the end of the last one's.
        pub(super) begins: [u32; 9],
        pub(super) count: u32,
        pub(super) rank: u32,
        /// The first vertex of this device, and the end of its vertices.
        pub(super) first: u32,
        pub(super) beyond: u32,
        /// How many targets the search waits for on all devices.
        pub(super) targets_in_all: u32,
    }
}

/// Arrays that others read.
const ARRAYS: usize = 5;
/// Letters for a device.
const LETTERS: usize = 2 * MOST_DEVICES as usize;

/// The vertices of each of so many devices: their first ones, and the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts(Vec<u32>);

impl Parts {
    /// Ranges with about the same work. Some are empty if there are few vertices. O(count * log V).
    pub(super) fn of(graph: &Graph, count: usize) -> Self {
        const GROUP: usize = 128;
        let (offsets, vertices) = (graph.csr().offsets(), graph.vertices());
        // A vertex takes about as long as an arc.
        let work = |v: usize| offsets[v] + v as u64;
        let all = work(vertices);
        let groups = vertices.div_ceil(GROUP);
        let begin = |part: usize| {
            let before = (u128::from(all) * part as u128 / count as u128) as u64;
            let (mut low, mut high) = (0, groups);
            while low < high {
                let middle = (low + high) / 2;
                if work((middle * GROUP).min(vertices)) < before { low = middle + 1 } else { high = middle }
            }
            (low * GROUP).min(vertices) as u32
        };
        Parts((0..count).map(begin).chain([vertices as u32]).collect())
    }

    /// Those for these parameters.
    pub(super) fn planned(graph: &Graph, parameters: &Parameters) -> Self {
        Self::of(graph, parts_of(parameters).clamp(1, MOST))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len() - 1
    }

    /// The vertices of one.
    pub(super) fn vertices(&self, part: usize) -> Range<usize> {
        self.0[part] as usize..self.0[part + 1] as usize
    }

    /// For each part how many arcs lead to its vertices. O(E) work.
    pub(super) fn arcs_into(&self, graph: &Graph) -> Vec<usize> {
        let ends = &self.0[1..];
        let none = || [0; MOST];
        let count = |heads: &[VertexId]| {
            let mut counts = none();
            heads.iter().for_each(|&head| counts[ends.partition_point(|&end| end <= head)] += 1);
            counts
        };
        let sum = |one: [usize; MOST], other: [usize; MOST]| std::array::from_fn(|part| one[part] + other[part]);
        let counts = graph.csr().targets().par_chunks(1 << 16).map(count).reduce(none, sum);
        counts[..self.count()].to_vec()
    }

    /// For each part how many arcs lead from there to each other one. O(E parts) work if there are several.
    pub(super) fn arcs_between(&self, graph: &Graph) -> Vec<Vec<u64>> {
        let count = self.count();
        let of_part = |part: usize| {
            let targets = &graph.csr().targets()[arcs_of(graph, &self.vertices(part))];
            let mut arcs = vec![0; count];
            for (other, arcs) in arcs.iter_mut().enumerate().filter(|(other, _)| *other != part) {
                let vertices = self.0[other]..self.0[other + 1];
                *arcs = targets.par_iter().with_min_len(1 << 16).filter(|&v| vertices.contains(v)).count() as u64;
            }
            arcs
        };
        (0..count).map(of_part).collect()
    }

    /// Those of these vertices, in ascending order, that one has.
    fn some_of<'v>(&self, part: usize, vertices: &'v [VertexId]) -> &'v [VertexId] {
        let place = |end: u32| vertices.partition_point(|&v| v < end);
        &vertices[place(self.0[part])..place(self.0[part + 1])]
    }
}

/// The arcs that leave these vertices.
pub(super) fn arcs_of(graph: &Graph, vertices: &Range<usize>) -> Range<usize> {
    graph.csr().offsets()[vertices.start] as usize..graph.csr().offsets()[vertices.end] as usize
}

/// The arrays of a device for meetings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mailbox {
    mail: DeviceSlice<Letter>,
    here: DeviceSlice<Meeting>,
}

impl Mailbox {
    pub(super) fn layout(arena: &mut Arena<'_>) -> Self {
        Mailbox { mail: arena.take("letters", 2 * MOST as u64), here: arena.take("where blocks meet", 1) }
    }

    /// Empties it, in stream order.
    pub(super) fn clear(&self, pool: &Pool) -> Result<()> {
        pool.fill(self.mail, 0)?;
        pool.fill(self.here, 0)
    }

    /// Has the device begin as if all had told these numbers at the meeting before the launch.
    pub(super) fn begin(&self, pool: &Pool, number: u64, sums: [u64; 5], least: u64) -> Result<()> {
        pool.upload(self.here, &[Meeting { joined: Letter { sums, least, number }, arrivals: 0, have_come: 0 }])
    }

    /// The number of the last meeting of any of these devices, once they have come here: after a search that was given up, some
    /// may have come further than others. A device that is lost has no number, and no search any more.
    fn last_number<'a>(mailboxes: impl Iterator<Item = (&'a Mailbox, &'a Pool)>) -> u64 {
        let number = |(mailbox, pool): (&Mailbox, &Pool)| {
            pool.read_array(mailbox.here).map_or(0, |[meeting]: [Meeting; 1]| meeting.joined.number)
        };
        mailboxes.map(number).max().unwrap_or(0)
    }
}

/// A device as others see it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) mailbox: Mailbox,
    /// The arrays that others read, up to [`ARRAYS`].
    pub(super) arrays: Vec<DeviceSlice<u32>>,
}

impl Peers {
    /// The devices with these parts, as each of them sees them; through the host's memory, if they exchange there.
    fn of(parts: &Parts, devices: &[Seen], host: Option<&HostMail>) -> Vec<Self> {
        let mut common = Peers {
            mail: [DeviceMutPtr::NULL; MOST],
            arrays: [DevicePtr::NULL; ARRAYS * MOST],
            published: [DeviceMutPtr::NULL; ARRAYS],
            here: DeviceMutPtr::NULL,
            given_up: DevicePtr::NULL,
            number: 0,
            begins: [0; MOST + 1],
            count: devices.len() as u32,
            rank: 0,
            first: 0,
            beyond: 0,
            targets_in_all: 0,
        };
        common.begins[..parts.0.len()].copy_from_slice(&parts.0);
        for (place, device) in devices.iter().enumerate() {
            let (letters, arrays) = match host {
                Some(host) => (host.letters_for(place), host.published_by(place).to_vec()),
                None => (device.mailbox.mail.address(), device.arrays.iter().map(DeviceSlice::address).collect()),
            };
            common.mail[place] = DeviceMutPtr::new(letters);
            for (array, address) in arrays.into_iter().enumerate() {
                common.arrays[array * MOST + place] = DevicePtr::new(address);
            }
        }
        let as_seen_by = |(place, device): (usize, &Seen)| {
            let mut peers = Peers {
                here: device.mailbox.here.as_mut_ptr(),
                rank: place as u32,
                first: parts.0[place],
                beyond: parts.0[place + 1],
                ..common
            };
            let published = host.map_or(&[][..], |host| host.published_by(place));
            peers.published.iter_mut().zip(published).for_each(|(there, &address)| *there = DeviceMutPtr::new(address));
            peers
        };
        devices.iter().enumerate().map(as_seen_by).collect()
    }
}

/// An error if these devices can't search together, as an algorithm with these parameters does: there are more than [`MOST`], or
/// some do not reach the memory of others, which they are to read.
pub(super) fn check_company(devices: &[Arc<dyn Device>], parameters: &Parameters) -> Result<()> {
    if devices.len() > MOST {
        return Err(Error::invalid(format!("{} devices are more than the {MOST} that search together", devices.len())));
    }
    if is_through_host(parameters) { Ok(()) } else { check_reach(devices) }
}

/// An error unless all of these devices reach each other's memory.
pub(crate) fn check_reach(devices: &[Arc<dyn Device>]) -> Result<()> {
    for (place, one) in devices.iter().enumerate() {
        for other in devices.iter().enumerate().filter(|(there, _)| *there != place).map(|(_, other)| other) {
            if !one.reaches(&**other)? {
                let (one, other) = (one.properties().ordinal, other.properties().ordinal);
                return Err(Error::invalid(format!("cuda:{one} has no access to the memory of cuda:{other}")));
            }
        }
    }
    Ok(())
}

/// Devices that have a graph together, and how far their meetings have come.
#[derive(Debug)]
pub(super) struct Together {
    devices: Vec<Arc<dyn Device>>,
    parts: Parts,
    /// As each of them sees the others.
    peers: Vec<Peers>,
    /// Of the last meeting.
    number: u64,
    /// Through which they exchange, unless they reach each other's memory.
    _host: Option<HostMail>,
}

/// What one device does in a search.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) function: Function,
    pub(super) shape: LaunchShape,
    pub(super) pool: &'a Pool,
    pub(super) mailbox: &'a Mailbox,
    pub(super) waiting: &'a Waiting,
}

impl Together {
    /// Devices with these parts, as others see them, which exchange as the parameters say.
    pub(super) fn new(
        devices: &[Arc<dyn Device>],
        parts: Parts,
        seen: &[Seen],
        parameters: &Parameters,
    ) -> Result<Self> {
        let needs_host = devices.len() > 1 && is_through_host(parameters);
        let words = |seen: &Seen| seen.arrays.iter().map(DeviceSlice::length).collect();
        let words: Vec<Vec<u64>> = seen.iter().map(words).collect();
        let letters = (LETTERS * size_of::<Letter>()) as u64;
        let host = if needs_host { Some(HostMail::new(devices, letters, &words)?) } else { None };
        let peers = Peers::of(&parts, seen, host.as_ref());
        Ok(Together { devices: devices.to_vec(), peers, parts, number: 0, _host: host })
    }

    /// Those of these vertices, in ascending order, that a device has.
    pub(super) fn some_of<'v>(&self, part: usize, vertices: &'v [VertexId]) -> &'v [VertexId] {
        self.parts.some_of(part, vertices)
    }

    /// The number of the last meeting.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Launches the kernel of each device with its argument, and waits for all of them; returns the seconds that the longest took. The
    /// caller says how often they have met ([`Together::have_met`]). After an error no kernel runs any more. The search waits for so many targets on all devices.
    pub(super) fn run<A: Argument>(
        &mut self,
        members: &[Member<'_>],
        arguments: &[A],
        targets: usize,
        control: &Control,
    ) -> Result<f64> {
        let peers: Vec<Peers> = (members.iter().zip(&self.peers))
            .map(|(member, peers)| Peers {
                number: self.number,
                given_up: member.waiting.cancelled(),
                targets_in_all: targets as u32,
                ..*peers
            })
            .collect();
        let mut lists: Vec<_> =
            arguments.iter().zip(&peers).map(|(argument, peers)| [argument.pointer(), peers.pointer()]).collect();
        let launches = members.iter().zip(&mut lists).map(|(member, arguments)| Launch {
            device: &**member.pool.device(),
            function: member.function,
            shape: member.shape,
            arguments,
        });
        let mut launches: Vec<Launch<'_>> = launches.collect();
        let waiting: Vec<&Waiting> = members.iter().map(|member| member.waiting).collect();
        let seconds = run_together(&mut launches, &waiting, &self.devices, control);
        if seconds.is_err() {
            // Some may have come further than others.
            let last = Mailbox::last_number(members.iter().map(|member| (member.mailbox, member.pool)));
            self.number = self.number.max(last);
        }
        seconds
    }

    /// After a search in which they have met so often.
    pub(super) fn have_met(&mut self, meetings: u64) {
        self.number += meetings;
    }
}

/// Launches a kernel on each device and waits for all of them; returns the seconds that the longest took. After an error no kernel
/// runs any more.
fn run_together(
    launches: &mut [Launch<'_>],
    waiting: &[&Waiting],
    devices: &[Arc<dyn Device>],
    control: &Control,
) -> Result<f64> {
    let started = waiting.iter().zip(devices).try_for_each(|(one, device)| one.prepare(device, control));
    // SAFETY: whoever made the launches vouches for them.
    let started = started.and_then(|()| unsafe { devices[0].launch_together(launches) });
    let started = started.and_then(|()| waiting.iter().zip(devices).try_for_each(|(one, device)| one.launched(device)));
    if let Err(error) = started {
        waiting.iter().for_each(|one| one.cancel());
        // The first error counts.
        devices.iter().for_each(|device| _ = device.synchronize());
        return Err(error);
    }
    finish_all(waiting, devices, control)
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::cuda::device::testing::several;
    use crate::generate;

    /// So many devices that reach each other, of each kind.
    pub(in crate::cuda) fn devices_that_reach_each_other(count: usize, seed: u64) -> Vec<Vec<Arc<dyn Device>>> {
        let mut kinds = several(count, seed);
        // Two contexts on one GPU do not run at once.
        let distinct = |devices: &Vec<Arc<dyn Device>>| {
            devices.iter().map(|device| device.properties().ordinal).collect::<HashSet<_>>().len() == count
        };
        kinds.retain(distinct);
        kinds
    }

    #[test]
    fn parts_have_all_vertices_and_about_the_same_work() {
        for (spec, count) in [("kron:12", 2), ("kron:12", 3), ("uniform:10", 8), ("grid:5x1", 4), ("grid:1000x1", 7)] {
            let graph = generate(spec).unwrap();
            let parts = Parts::of(&graph, count);
            assert_eq!((parts.count(), parts.0[0], parts.0[count] as usize), (count, 0, graph.vertices()));
            assert!(
                parts.0.is_sorted()
                    && parts.0[..count].iter().all(|begin| begin % 128 == 0 || *begin == parts.0[count])
            );
            let offsets = graph.csr().offsets();
            let arcs = |part| offsets[parts.vertices(part).end] - offsets[parts.vertices(part).start];
            if spec == "kron:12" {
                let most = (0..count).map(arcs).max().unwrap();
                assert!((most as usize) < graph.arcs() / count * 3 / 2, "{spec}: {most}");
            }
            let some: Vec<VertexId> = (0..graph.vertices() as VertexId).step_by(3).collect();
            let again: Vec<VertexId> = (0..count).flat_map(|part| parts.some_of(part, &some)).copied().collect();
            assert_eq!(again, some);
        }
    }

    #[cfg(emulator)]
    mod on_emulators {
        use super::super::*;
        use crate::cuda::device::Image;
        use crate::cuda::device::emulator::Emulator;
        use crate::cuda::device::memory::Pinned;

        static IMAGE: Image = Image { name: "tests", parts: &[] };
        const THREADS: u32 = 40;
        const BLOCKS: u32 = 2;

        /// Runs a test kernel on so many devices; what each has counted as wrong, or the error. `mine` is whether it takes its own array
        /// and a number of rounds.
        fn run(kernel: &str, count: usize, seed: u64, given_up: bool, rounds: Option<u32>) -> Result<Vec<u32>> {
            let numbered = |k: u32| Arc::new(Emulator::numbered(seed + u64::from(k), k)) as Arc<dyn Device>;
            let devices: Vec<_> = (0..count as u32).map(numbered).collect();
            let made: Vec<_> = devices
                .iter()
                .map(|device| {
                    let (pool, (mailbox, mine, wrong)) = Pool::lay_out(device, |arena| {
                        let mine: DeviceSlice<u32> = arena.take("mine", (THREADS * BLOCKS).into());
                        (Mailbox::layout(arena), mine, arena.take::<u32>("wrong", 1))
                    })
                    .unwrap();
                    mailbox.clear(&pool).unwrap();
                    pool.fill(mine, 0).unwrap();
                    pool.fill(wrong, 0).unwrap();
                    let flag = Pinned::<u32>::new(device, 1).unwrap();
                    flag.set(0, given_up.into());
                    (pool, mailbox, mine, wrong, flag)
                })
                .collect();
            let seen: Vec<Seen> =
                made.iter().map(|(_, mailbox, mine, ..)| Seen { mailbox: *mailbox, arrays: vec![*mine] }).collect();
            let parts = Parts(vec![0; count + 1]);
            let mut peers = Peers::of(&parts, &seen, None);
            peers.iter_mut().zip(&made).for_each(|(peers, made)| peers.given_up = made.4.as_ptr());
            let shape = LaunchShape { cooperative: true, ..LaunchShape::line(BLOCKS, THREADS) };
            let rounds_to_run = rounds.unwrap_or(0);
            let mut lists: Vec<Vec<_>> = made
                .iter()
                .zip(&peers)
                .map(|((_, _, mine, wrong, _), peers)| match rounds {
                    Some(_) => vec![peers.pointer(), mine.pointer(), wrong.pointer(), rounds_to_run.pointer()],
                    None => vec![peers.pointer(), wrong.pointer()],
                })
                .collect();
            let mut launches = Vec::new();
            for (device, arguments) in devices.iter().zip(&mut lists) {
                let function = device.function(&IMAGE, kernel)?;
                launches.push(Launch { device: &**device, function, shape, arguments });
            }
            // SAFETY: the arguments are those of the test kernels, and all arrays have the lengths that these expect.
            unsafe { devices[0].launch_together(&mut launches) }?;
            made.iter().map(|(pool, _, _, wrong, _)| pool.read_array(*wrong).map(|[wrong]: [u32; 1]| wrong)).collect()
        }

        #[test]
        fn all_devices_see_what_was_written_before_a_meeting() {
            for count in 1..=4 {
                for seed in 0..8 {
                    assert_eq!(run("test_peers", count, seed, false, Some(5)).unwrap(), vec![0; count], "seed {seed}");
                }
            }
        }

        #[test]
        fn planted_bugs_between_devices_are_found() {
            let wrong = |kernel| (0..400).find(|&seed| run(kernel, 2, seed, false, None).unwrap()[1] > 0);
            assert_eq!(wrong("test_flag"), None);
            assert!(wrong("bug_missing_system_fence").is_some());
            assert!(wrong("bug_flag_before_data").is_some());
            let left_out =
                |seed| run("bug_number_left_out", 2, seed, false, Some(20)).map_or(1, |wrong| wrong.iter().sum());
            assert!((0..100).any(|seed| left_out(seed) > 0));
            let error = run("bug_ordinary_access", 2, 1, false, None).unwrap_err().to_string();
            assert!(error.contains("to the memory of another device: use load_system"), "{error}");
        }

        /// A meeting that a device leaves out is found, too: the others wait for it forever.
        #[test]
        fn a_meeting_that_a_device_leaves_out_is_found() {
            let error = run("bug_meeting_missed", 2, 1, false, None).unwrap_err().to_string();
            assert!(error.contains("the kernel doesn't end"), "{error}");
        }

        /// Whoever waits for a device that does not come ends when the host says so.
        #[test]
        fn a_device_that_does_not_come_is_given_up() {
            for seed in 0..4 {
                assert!(run("bug_meeting_missed", 2, seed, true, None).is_ok());
            }
        }
    }
}
