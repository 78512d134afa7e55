// A combined log of so many lines, the same every time: 200,000 clients of very different diligence, 400 a second.
import { closeSync, openSync, writeSync } from "node:fs";

const CLIENTS = 200_000;
const AGENTS = 500;
const PATHS = 5_000;
const START = Date.UTC(2026, 0, 1);
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function writeAccessLog(file, lines) {
  const random = seeded(7);
  const agents = Array.from({ length: AGENTS }, (_, i) => agent(i));
  const out = openSync(file, "w");
  let text = "";
  for (let i = 0; i < lines; i++) {
    const client = Math.floor(random() ** 3 * CLIENTS);
    const address = `${203 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}.${1 + (client % 250)}`;
    const query = random() < 0.3 ? `?q=${Math.floor(random() * 1e6)}` : "";
    const path = `/products/category-${client % 50}/item-${Math.floor(random() * PATHS)}${query}`;
    const method = random() < 0.9 ? "GET" : "POST";
    const status = random() < 0.95 ? 200 : 404;
    const time = clock(START + Math.floor(i / 400) * 1000);
    text += `${address} - - [${time} +0000] "${method} ${path} HTTP/1.1" ${status} ${Math.floor(random() * 50_000)} "https://shop.example/" "${agents[client % AGENTS]}"\n`;
    if (text.length > 1e6 || i === lines - 1) {
      writeSync(out, text);
      text = "";
    }
  }
  closeSync(out);
}

function agent(i) {
  return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + (i % 40)}.0.${i}.0 Safari/537.36`;
}

let last = { ms: -1, text: "" };

function clock(ms) {
  if (last.ms === ms) return last.text;
  const date = new Date(ms);
  const two = (value) => String(value).padStart(2, "0");
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":");
  last = { ms, text: `${day}:${time}` };
  return last.text;
}

/** Mulberry32. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
