//! What Linux says of processes and their sockets.

use std::fs;

/// Bytes of memory that a process has now.
pub(super) fn resident(id: u32) -> usize {
    status(id, "VmRSS:")
}

/// Most bytes of memory that a process had.
pub(super) fn peak_resident(id: u32) -> usize {
    status(id, "VmHWM:")
}

fn status(id: u32, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a process that lives");
    let value = status.lines().find_map(|line| line.strip_prefix(name)).expect("a member of it");
    let kib = value.trim().strip_suffix(" kB").expect("a number of kB");
    kib.parse::<usize>().expect("a number") * 1024
}

/// Seconds that a process had of the processors.
pub(super) fn processor_time(id: u32) -> f64 {
    /// Which every Linux says to programs, whatever it counts in.
    const TICKS_A_SECOND: f64 = 100.0;

    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("a process that lives");
    let (_, members) = stat.rsplit_once(") ").expect("a name in parentheses");
    let ticks = members.split(' ').skip(11).take(2);
    ticks.map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / TICKS_A_SECOND
}

/// How many files this process may have open.
pub(super) fn most_open_files() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").expect("a file of Linux");
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = soft.and_then(|rest| rest.split_whitespace().next());
    soft.and_then(|soft| soft.parse().ok()).unwrap_or(usize::MAX)
}

/// Bytes that the kernel holds for connections with this port at either end: sent and not taken, or
/// arrived and not read.
pub(super) fn held_by_sockets(port: u16) -> usize {
    let sockets = fs::read_to_string("/proc/net/tcp").expect("a file of Linux");
    let has_port = |end: &str| end.ends_with(&format!(":{port:04X}"));
    let held = sockets.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote) = (words.next()?, words.next()?);
        let (sending, receiving) = words.nth(1)?.split_once(':')?;
        let is_listener = remote.ends_with(":0000");
        let is_ours = has_port(local) || has_port(remote);
        let of = |hex| usize::from_str_radix(hex, 16).ok();
        (is_ours && !is_listener).then_some(of(sending)? + of(receiving)?)
    });
    held.sum()
}
