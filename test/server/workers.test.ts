import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import {
  configFile,
  eventually,
  type Running,
  runTidegate,
  startTidegate,
  temporaryFolder,
} from "./running.js";

/** An app that answers when it is told to. */
async function patientApp(): Promise<{ port: number; asked: ServerResponse[] }> {
  const asked: ServerResponse[] = [];
  const server = createServer((_, res) => void asked.push(res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

function folderWith(appPort: number): string {
  const folder = temporaryFolder();
  const redis = `redis://127.0.0.1:${inject("redisPort")}`;
  configFile(
    folder,
    `upstreams: [{ url: "http://127.0.0.1:${appPort}" }]
store: { kind: redis, url: "${redis}", prefix: t${crypto.randomUUID().slice(0, 8)} }
workers: 2
failure: { deadline: 10s }
policy: { rules: [{ name: req/ip, by: ip, limits: [500 per hour] }] }
`,
  );
  return folder;
}

describe("a signal to workers and parent at once", () => {
  async function underWay(): Promise<{ running: Running; answer: Promise<string>; res: ServerResponse }> {
    const { port, asked } = await patientApp();
    const running = await startTidegate({ folder: folderWith(port), hasOwnGroup: true });
    const answer = fetch(running.proxy).then((response) => response.text());
    answer.catch(() => {});
    const res = await eventually(() => asked[0]);
    return { running, answer, res };
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const)
    test(`${signal} lets what is under way end`, async () => {
      const { running, answer, res } = await underWay();
      running.signalGroup(signal);
      await eventually(() =>
        fetch(running.proxy, { headers: { connection: "close" }, signal: AbortSignal.timeout(1000) }).then(
          () => undefined,
          ({ cause }) => cause?.code === "ECONNREFUSED" || undefined,
        ),
      );
      res.end("whole");
      expect(await answer).toBe("whole");
      expect(await running.ended()).toBe(0);
    });

  test("given twice ends all at once", async () => {
    const { running, answer } = await underWay();
    running.signalGroup("SIGINT");
    await eventually(() => running.lines().find(({ msg }) => msg === "ending what is under way"));
    running.signalGroup("SIGINT");
    expect(await running.ended()).toBe(1);
    await expect(answer).rejects.toThrow();
  });
});

describe("a start with workers", () => {
  for (const listener of ["listen", "admin"])
    test(`ends with the reason when the port of --${listener} is taken`, async () => {
      const { port } = await patientApp();
      const ports = { listen: 0, admin: 0, decide: 0, [listener]: port };
      const flags = Object.entries(ports).flatMap(([name, each]) => [`--${name}`, `127.0.0.1:${each}`]);
      const { code, stderr } = await runTidegate(["start", ...flags], { folder: folderWith(port) });
      expect(code).toBe(1);
      expect(stderr.match(/TG_LISTEN/g)).toHaveLength(1);
    });
});
