import { printable, printableStart } from "../printable.js";
import { problemText } from "./problem-text.js";

/** One line of the log as a person reads it on a terminal: time, level, words, then `name=value`. Problems and stacks stand below, a line each. */
export function humanLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const name = String(level);
  const below: string[] = [];
  const shown = Object.entries(fields).map(
    ([key, value]) => `${dim}${printableStart(key, 100)}=${plain}${text(key, value, below)}`,
  );
  const words = [String(time).slice(11, 19), colour(name), printable(String(msg ?? "")), ...shown];
  return `${words.join(" ")}\n${below.map((line) => `    ${printable(line)}\n`).join("")}`;
}

const dim = "\u001b[2m";
const plain = "\u001b[0m";
const colours: Readonly<Record<string, string>> = {
  info: "\u001b[32m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
  fatal: "\u001b[31m",
};

function colour(level: string): string {
  return `${colours[level] ?? dim}${printableStart(level.toUpperCase(), 10).padEnd(5)}${plain}`;
}

function text(name: string, value: unknown, below: string[]): string {
  if (typeof value === "string")
    return /^[^\s"=]+$/.test(value) ? printable(value) : printable(JSON.stringify(value));
  if (typeof value === "object" && value !== null && "stack" in value && "message" in value) {
    const { message, stack } = value;
    below.push(
      ...String(stack)
        .split("\n")
        .filter((line) => /^ +at /.test(line))
        .map((line) => line.trim()),
    );
    return printable(JSON.stringify(message) ?? "");
  }
  if (name === "problems" && Array.isArray(value)) {
    below.push(...value.map(problemText));
    return `${value.length}`;
  }
  return printableStart(JSON.stringify(value) ?? "", 4096);
}
