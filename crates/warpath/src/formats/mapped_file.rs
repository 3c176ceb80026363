//! Memory-mapped input that survives its file being cut short.
//!
//! Reading a page of a map whose file no longer reaches there raises `SIGBUS`, which ends a process. A graph is used
//! for hours after its file was opened, so this is no rare accident. The handler installed here puts zero pages
//! where the file went missing and raises a flag on the map: what was computed is worthless and is reported as an
//! error ([`Graph::check_intact`](crate::Graph::check_intact)), but nothing crashes. What is missing of a last page that
//! is still there in part reads as zeros without a signal, so the length of the file is looked at as well. Signals that
//! concern no map of ours go to the handler that was there before.
//!
//! A handler may only do what is safe at any instant, so the maps are registered in a linked list that is only
//! ever added to, read and written by atomics alone. On systems without `SIGBUS` the file is a plain map; Windows, for
//! one, refuses to cut a mapped file.

use std::fs::File;
use std::ops::Range;

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use crate::graph::StableBytes;

/// A file mapped into memory, for reading.
pub(super) struct MappedFile {
    // Dropped first: from then on its addresses are no concern of the handler.
    #[cfg(unix)]
    guard: guard::Registration,
    map: Mmap,
    file: File,
}

impl MappedFile {
    /// Maps a whole file, which must not be empty.
    pub(super) fn open(file: &File) -> std::io::Result<Self> {
        // SAFETY: the map is read-only. Should the file shrink, reads see zeros (see above); should its content change,
        // readers may see either content, and all of them check what they read.
        let map = unsafe { Mmap::map(file)? };
        Ok(MappedFile {
            #[cfg(unix)]
            guard: guard::Registration::new(&map)?,
            map,
            file: file.try_clone()?,
        })
    }
}

// SAFETY: the map stays where it is until the value is dropped, and pages that go missing read as zeros.
unsafe impl StableBytes for MappedFile {
    fn bytes(&self) -> &[u8] {
        &self.map
    }

    fn is_damaged(&self) -> bool {
        #[cfg(unix)]
        if self.guard.is_damaged() {
            return true;
        }
        self.file.metadata().map_or(true, |metadata| metadata.len() < self.map.len() as u64)
    }

    fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if range.start < range.end && range.end <= self.map.len() {
            // SAFETY: the map is of a file and never written to: pages that are dropped come back as they were.
            let _ = unsafe {
                self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.end - range.start)
            };
        }
        #[cfg(not(unix))]
        let _ = range;
    }
}

#[cfg(unix)]
mod guard {
    use std::io::Error;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

    /// The addresses of one map. Slots live for ever and are used again.
    struct Slot {
        taken: AtomicBool,
        start: AtomicUsize,
        /// 0 while the slot stands for no map.
        end: AtomicUsize,
        damaged: AtomicBool,
        next: AtomicPtr<Slot>,
    }

    /// The first slot.
    static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
    /// What handled `SIGBUS` before; an error number if no handler can be installed.
    static PREVIOUS: OnceLock<Result<libc::sigaction, i32>> = OnceLock::new();
    /// The size of a page; 0 before the first map.
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    /// Has the handler watch over a map for as long as this lives.
    pub(super) struct Registration(&'static Slot);

    impl Registration {
        pub(super) fn new(map: &[u8]) -> std::io::Result<Self> {
            install()?;
            let slot = slots().find(|slot| !slot.taken.swap(true, Ordering::Acquire)).unwrap_or_else(|| {
                let slot: &'static Slot = Box::leak(Box::new(Slot {
                    taken: AtomicBool::new(true),
                    start: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                    damaged: AtomicBool::new(false),
                    next: AtomicPtr::new(std::ptr::null_mut()),
                }));
                let pushed = SLOTS.fetch_update(Ordering::AcqRel, Ordering::Acquire, |first| {
                    slot.next.store(first, Ordering::Release);
                    Some(std::ptr::from_ref(slot).cast_mut())
                });
                debug_assert!(pushed.is_ok());
                slot
            });
            slot.damaged.store(false, Ordering::SeqCst);
            slot.start.store(map.as_ptr() as usize, Ordering::SeqCst);
            slot.end.store(map.as_ptr() as usize + map.len(), Ordering::SeqCst);
            Ok(Registration(slot))
        }

        pub(super) fn is_damaged(&self) -> bool {
            self.0.damaged.load(Ordering::SeqCst)
        }
    }

    impl Drop for Registration {
        fn drop(&mut self) {
            self.0.end.store(0, Ordering::SeqCst);
            self.0.taken.store(false, Ordering::Release);
        }
    }

    fn slots() -> impl Iterator<Item = &'static Slot> {
        // SAFETY: every pointer in the list comes from a leaked box, or is null.
        let at = |pointer: &AtomicPtr<Slot>| unsafe { pointer.load(Ordering::Acquire).as_ref() };
        std::iter::successors(at(&SLOTS), move |slot| at(&slot.next))
    }

    /// Installs the handler, once.
    fn install() -> std::io::Result<()> {
        let outcome = PREVIOUS.get_or_init(|| {
            // SAFETY: plain query.
            let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            PAGE_BYTES.store(usize::try_from(page_bytes).unwrap_or(4096), Ordering::SeqCst);
            // SAFETY: `sigaction` is plain data, for which zeros are a value.
            let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: a query into a live value.
            match unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut previous) } {
                0 => Ok(previous),
                _ => Err(Error::last_os_error().raw_os_error().unwrap_or(0)),
            }
        });
        if let Err(number) = outcome {
            return Err(Error::from_raw_os_error(*number));
        }
        // The handler needs `PREVIOUS`, so it is installed after that is set.
        static INSTALLED: OnceLock<i32> = OnceLock::new();
        let number = *INSTALLED.get_or_init(|| {
            // SAFETY: as above.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: `handle` has the signature that SA_SIGINFO asks for and does only what a handler may.
            match unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) } {
                0 => 0,
                _ => Error::last_os_error().raw_os_error().unwrap_or(-1),
            }
        });
        if number == 0 { Ok(()) } else { Err(Error::from_raw_os_error(number)) }
    }

    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid description; the address is meaningful for faults, which have a positive
        // code.
        let (address, is_fault) = unsafe { ((*info).si_addr() as usize, (*info).si_code > 0) };
        if is_fault && repair(address) {
            return;
        }
        let previous = PREVIOUS.get().and_then(|previous| previous.as_ref().ok());
        match previous {
            Some(previous) if previous.sa_sigaction != libc::SIG_DFL && previous.sa_sigaction != libc::SIG_IGN => {
                // SAFETY: that is what the kernel would have called, with the arguments its flags ask for.
                unsafe {
                    if previous.sa_flags & libc::SA_SIGINFO != 0 {
                        let next: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                            std::mem::transmute(previous.sa_sigaction);
                        next(signal, info, context);
                    } else {
                        let next: extern "C" fn(libc::c_int) = std::mem::transmute(previous.sa_sigaction);
                        next(signal);
                    }
                }
            }
            // SAFETY: async-signal-safe. The fault happens again on return, and ends the process as it would have.
            _ => unsafe {
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
                if !is_fault {
                    libc::raise(signal);
                }
            },
        }
    }

    /// If the address is in one of our maps, puts zero pages there and after it, and marks the map.
    fn repair(address: usize) -> bool {
        let found = slots().find_map(|slot| {
            let start = slot.start.load(Ordering::SeqCst);
            let end = slot.end.load(Ordering::SeqCst);
            // A slot that is just being given to another map is not the one: the map of a fault is in use.
            let is_settled = slot.start.load(Ordering::SeqCst) == start;
            (is_settled && (start..end).contains(&address)).then_some((slot, end))
        });
        let Some((slot, end)) = found else { return false };
        slot.damaged.store(true, Ordering::SeqCst);
        let page = address & !(PAGE_BYTES.load(Ordering::SeqCst) - 1);
        // SAFETY: maps start at pages and own theirs to the end, so only pages of the damaged map are replaced. The
        // call is a bare system call.
        let mapped = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                end - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        mapped != libc::MAP_FAILED
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;

    use super::*;

    fn file_of(bytes: usize) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; bytes]).unwrap();
        file
    }

    #[test]
    fn a_file_cut_short_reads_as_zeros_and_is_reported() {
        let file = file_of(100_000);
        let whole = MappedFile::open(&file_of(5000)).unwrap();
        let map = MappedFile::open(&file).unwrap();
        assert!(map.bytes().iter().all(|&byte| byte == 7));
        assert!(!map.is_damaged());
        file.set_len(10_000).unwrap();
        let sum: u64 = map.bytes().iter().map(|&byte| u64::from(byte)).sum();
        assert_eq!(sum, 70_000);
        assert!(map.is_damaged());
        assert!(!whole.is_damaged() && whole.bytes().iter().all(|&byte| byte == 7));
    }

    #[test]
    fn a_file_cut_within_its_last_page_is_reported() {
        for bytes in [5000, 300] {
            let file = file_of(bytes);
            let map = MappedFile::open(&file).unwrap();
            assert!(!map.is_damaged());
            file.set_len(bytes as u64 - 1).unwrap();
            assert_eq!(map.bytes()[bytes - 1], 0);
            assert!(map.is_damaged());
        }
    }

    #[test]
    fn several_threads_can_meet_the_damage_at_once() {
        for _ in 0..20 {
            let file = file_of(1 << 20);
            let map = MappedFile::open(&file).unwrap();
            file.set_len(4096).unwrap();
            std::thread::scope(|scope| {
                for part in map.bytes().chunks(1 << 17) {
                    scope.spawn(move || assert!(part.iter().skip(4096).all(|&byte| byte == 0)));
                }
            });
            assert!(map.is_damaged());
        }
    }

    #[test]
    fn slots_are_used_again() {
        for _ in 0..100 {
            let file = file_of(20_000);
            let map = MappedFile::open(&file).unwrap();
            assert!(!map.is_damaged());
            file.set_len(0).unwrap();
            assert_eq!(map.bytes()[19_999], 0);
            assert!(map.is_damaged());
        }
    }
}
