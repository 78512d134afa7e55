/*
 * SHA-256 and SHA-1 in plain JavaScript: WebCrypto answers only later, and `node:crypto` is not to be had in Workers.
 * SHA-1 is here because edges speak it; nothing secret rests on it.
 */

/** How a text becomes bytes: in UTF-8, or one byte per character, none of which is above 0xff. */
export type TextBytes = "utf8" | "latin1";

/** 64 hex digits of SHA-256. */
export function sha256Hex(text: string, as: TextBytes = "utf8"): string {
  const bytes = padded(text, as);
  state.set(sha256Start);
  for (let at = 0; at < paddedBytes; at += 64) sha256Block(bytes, at);
  return hex(8);
}

/** 40 hex digits of SHA-1. */
export function sha1Hex(text: string, as: TextBytes = "utf8"): string {
  const bytes = padded(text, as);
  state.set(sha1Start);
  for (let at = 0; at < paddedBytes; at += 64) sha1Block(bytes, at);
  return hex(5);
}

/** Working memory, shared by all calls: a digest is made in one go. */
const state = new Int32Array(8);
const words = new Int32Array(80);
const shortText = new Uint8Array(4096);
let paddedBytes = 0;

const encoder = new TextEncoder();

/** The text, then a one bit, zeros, and the length in bits, up to `paddedBytes`: a multiple of 64. */
function padded(text: string, as: TextBytes): Uint8Array {
  const most = text.length * 3 + 72;
  const bytes = most <= shortText.length ? shortText : new Uint8Array(most);
  const length = as === "utf8" ? encoder.encodeInto(text, bytes).written : putLatin1(text, bytes);
  paddedBytes = (length + 72) & ~63;
  bytes.fill(0, length, paddedBytes);
  bytes[length] = 0x80;
  putWord(bytes, paddedBytes - 8, Math.floor(length / 0x2000_0000));
  putWord(bytes, paddedBytes - 4, length << 3);
  return bytes;
}

/** Plain ASCII, as nearly all texts are, is the same either way, and the platform writes it faster. */
function putLatin1(text: string, bytes: Uint8Array): number {
  const { length } = text;
  if (encoder.encodeInto(text, bytes).written === length) return length;
  for (let at = 0; at < length; at++) bytes[at] = text.charCodeAt(at);
  return length;
}

function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}

function loadWords(bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4) {
    words[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  }
}

function sha256Block(bytes: Uint8Array, at: number): void {
  loadWords(bytes, at);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15]!;
    const y = words[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + sha256Round[i]! + words[i]!) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  add(a, b, c, d, e);
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function sha1Block(bytes: Uint8Array, at: number): void {
  loadWords(bytes, at);
  for (let i = 16; i < 80; i++) {
    const x = words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!;
    words[i] = (x << 1) | (x >>> 31);
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  for (let i = 0; i < 80; i++) {
    const mixed =
      i < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : i < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : i < 60
            ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
    const next = (((a << 5) | (a >>> 27)) + mixed + e + words[i]!) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  add(a, b, c, d, e);
}

function add(a: number, b: number, c: number, d: number, e: number): void {
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
}

function hex(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) {
    const word = state[i]!;
    text +=
      hexPairs[word >>> 24]! +
      hexPairs[(word >>> 16) & 255]! +
      hexPairs[(word >>> 8) & 255]! +
      hexPairs[word & 255]!;
  }
  return text;
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const sha1Start = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

const sha256Start = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const sha256Round = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
