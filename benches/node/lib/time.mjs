/**
 * Seconds of processor time that `pass` takes, over as many passes as fill `atLeast` seconds. What
 * the engine does on other threads, such as collecting garbage, counts; other programs do not.
 *
 * @param {() => void} pass @param {number} atLeast
 */
export function secondsPerPass(pass, atLeast) {
  const start = process.cpuUsage();
  let passes = 0;
  let seconds = 0;
  while (seconds < atLeast) {
    pass();
    passes += 1;
    const { user, system } = process.cpuUsage(start);
    seconds = (user + system) / 1e6;
  }
  return seconds / passes;
}

/** @param {number[]} measurements */
export function quartiles(measurements) {
  const sorted = [...measurements].sort((one, other) => one - other);
  const quarter = (quarters) => sorted[Math.floor(((sorted.length - 1) * quarters) / 4)];
  return { low: quarter(1), median: quarter(2), high: quarter(3) };
}
