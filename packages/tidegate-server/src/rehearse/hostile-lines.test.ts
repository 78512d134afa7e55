import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/server/running.js";
import { readLogs } from "./read-logs.js";

const good = {
  json: '{"msec":"1767225600.000","remote_addr":"203.0.113.7","request_method":"GET","request_uri":"/","status":200}',
  caddy:
    '{"ts":1767225600.1,"request":{"client_ip":"203.0.113.7","method":"GET","uri":"/","host":"x","headers":{}},"status":200}',
  "decision-log":
    '{"at":"2026-01-01T00:00:00.000Z","kind":"decision","address":"00112233445566778899","method":"GET","path":"/"}',
};

it.each([
  ["json", '{"msec":{"toString":1,"valueOf":1},"remote_addr":"203.0.113.7","request":"GET / HTTP/1.1"}'],
  ["json", '{"msec":1e300,"remote_addr":"203.0.113.7","request_method":"GET","request_uri":"/"}'],
  ["json", '{"msec":9e15,"remote_addr":"203.0.113.7","request_method":"GET","request_uri":"/"}'],
  ["caddy", good.caddy.replace('"headers":{}', '"headers":{"A":{"toString":1}}')],
  ["caddy", good.caddy.replace('"status":200', '"status":{"valueOf":1,"toString":2}')],
  ["caddy", good.caddy.replace('"headers":{}', `"headers":{"A":${"[".repeat(50_000)}${"]".repeat(50_000)}}`)],
  ["decision-log", '{"at":{"toString":1},"kind":"decision","path":"/"}'],
] as const)(
  "a line made to break the parser of %s is malformed, and the others are read (%#)",
  async (format, line) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "log"), `${good[format]}\n${line}\n${good[format]}\n`);
    const seen: number[] = [];
    const { input } = await readLogs({ logs: ["log"], cwd: folder, format }, ({ at }) => void seen.push(at));
    expect(seen).toHaveLength(2);
    expect(input).toMatchObject({ lines: 3, malformed: 1 });
  },
);

it("names that every object has are names of fields like others", async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "log"),
    "#Fields: date time c-ip cs-method cs-uri-stem sc-status constructor __proto__ toString\n" +
      "2026-01-01 00:00:00 203.0.113.7 GET / 200 a b c\n",
  );
  const { input } = await readLogs({ logs: ["log"], cwd: folder }, () => {});
  expect(input).toMatchObject({ malformed: 0, files: [{ format: "w3c", requests: 1 }] });
});

it("no line is quoted where nothing may be told", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "log"), "203.0.113.7 ann rubbish\n");
  for (const format of [undefined, "combined"]) {
    const reading = readLogs({ logs: ["log"], cwd: folder, format, isHidden: true }, () => {});
    await expect(reading).rejects.toThrow(/^(?!.*203\.0\.113\.7)/);
    await expect(readLogs({ logs: ["log"], cwd: folder, format }, () => {})).rejects.toThrow("203.0.113.7");
  }
});
