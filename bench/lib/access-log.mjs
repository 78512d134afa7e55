// A combined log of so many lines, the same every time: the library's own model of a site's traffic.
import { closeSync, openSync, writeSync } from "node:fs";
import { trafficModel } from "tidegate/simulate";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const START = Date.UTC(2026, 0, 1);
const USERS = 50_000;
const ENOUGH_HOURS = 24 * 365;

export function writeAccessLog(file, lines) {
  const out = openSync(file, "w");
  const traffic = trafficModel({ seed: 7, from: START, hours: ENOUGH_HOURS, users: USERS });
  let text = "";
  let left = lines;
  for (const { at, subject, outcome } of traffic) {
    const request = `${subject.method} ${subject.path} HTTP/1.1`;
    text += `${subject.ip} - - [${clock(at)} +0000] "${request}" ${outcome.status} 1234 "-" "${subject.header("user-agent")}"\n`;
    left--;
    if (text.length > 1e6 || left === 0) {
      writeSync(out, text);
      text = "";
    }
    if (left === 0) break;
  }
  closeSync(out);
}

let last = { second: -1, text: "" };

function clock(ms) {
  const second = Math.floor(ms / 1000);
  if (last.second === second) return last.text;
  const date = new Date(second * 1000);
  const two = (value) => String(value).padStart(2, "0");
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":");
  last = { second, text: `${day}:${time}` };
  return last.text;
}
