/** Frames: a length of four bytes, big-endian, and the payload it counts. */

/** @param {Uint8Array[]} payloads */
export function joinFrames(payloads) {
  return Buffer.concat(
    payloads.flatMap((payload) => {
      const header = Buffer.alloc(4);
      header.writeUInt32BE(payload.length);
      return [header, payload];
    }),
  );
}

/** @param {Buffer} bytes @returns {Buffer[]} */
export function splitFrames(bytes) {
  const payloads = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw new Error(`header cut at byte ${at}`);
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error(`payload cut at byte ${at}`);
    payloads.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return payloads;
}
