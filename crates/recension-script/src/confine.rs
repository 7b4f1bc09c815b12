//! Confinement of a worker before it runs anything: no new files, sockets or processes, and bounded memory.

use std::io;

use rustix::process::{Resource, Rlimit, getppid, setrlimit};

use crate::limits::{PARENT_WATCHED_EVERY, WORKER_ADDRESS_BYTES_MAX};

/// Confines this process for good.
pub(crate) fn confine() -> io::Result<()> {
    let at_most = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    at_most(Resource::As, WORKER_ADDRESS_BYTES_MAX)?;
    // The three files that it has open, and no others.
    at_most(Resource::Nofile, 3)?;
    at_most(Resource::Core, 0)?;
    at_most(Resource::Fsize, 0)?;
    system_calls()
}

/// Begins to watch whether the server is still there. A function that runs on after the server was killed would
/// otherwise never end.
pub(crate) fn watch_parent() -> io::Result<()> {
    let parent = getppid();
    let (begun, begins) = std::sync::mpsc::sync_channel(1);
    let watch = move || {
        // Starting a thread takes system calls that are forbidden later.
        if begun.send(()).is_err() {
            return;
        }
        while getppid() == parent {
            std::thread::sleep(PARENT_WATCHED_EVERY);
        }
        std::process::exit(1);
    };
    std::thread::Builder::new().name("parent".to_owned()).stack_size(64 * 1024).spawn(watch)?;
    begins.recv().map_err(io::Error::other)
}

/// Allows the system calls that a computation needs. Every other one fails with EPERM.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn system_calls() -> io::Result<()> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

    const NEEDED: &[libc::c_long] = &[
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_readv,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_clock_gettime,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_sched_yield,
        libc::SYS_rt_sigreturn,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_sigaltstack,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_gettid,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_restart_syscall,
    ];
    let target = if cfg!(target_arch = "x86_64") { TargetArch::x86_64 } else { TargetArch::aarch64 };
    let rules = NEEDED.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, target).map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    match apply_filter_all_threads(&program) {
        // If the system does not know filters, the limits above hold nevertheless.
        Err(seccompiler::Error::Prctl(error)) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
        done => done.map_err(io::Error::other),
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn system_calls() -> io::Result<()> {
    Ok(())
}
