import { createHash, randomUUID } from "node:crypto";
import { type Edge, EdgeError, type EdgeMode, edgeModes, type RefusedKey } from "../../edge.js";
import type { NginxEdgeSettings } from "../../settings.js";
import { formatHeldFile, type HeldFile, isHeldKey, lastSecond, parseHeldFile } from "./held-file.js";
import { type NginxReload, nginxProcess } from "./nginx-process.js";
import { paced } from "./paced.js";
import { readWhole, writeWhole } from "./whole-file.js";

export type NginxMapEdgeOptions = Omit<NginxEdgeSettings, "kind"> & { readonly name: string };

/** A reload takes a fraction of a second; one that takes longer is looked for again at the next look. */
const takenMs = 2_000;

/** nginx as it comes: a file of addresses it includes, and a reload. It works out no digests, so it knows clients by address alone. */
export function nginxMapEdge({ name, file, pidFile, reloadMs, maxEntries }: NginxMapEdgeOptions): Edge {
  const modeFile = `${file}.mode`;
  /** What nginx was last told, by whichever process. */
  const toldFile = `${file}.told`;
  const nginx = nginxProcess(name, pidFile);
  const telling = paced(tell, reloadMs);
  /** The epoch a file without one gets when it is next written. */
  let nextEpoch: string = randomUUID();
  let lastRead = { text: "", held: parseHeldFile("") };
  let turn: Promise<unknown> = Promise.resolve();
  /** A reload that nginx has not shown to have taken, and what it was to tell. */
  let untaken: { readonly digest: string; readonly reload: NginxReload } | undefined;

  async function readHeld(): Promise<HeldFile> {
    const text = (await readWhole(file)) ?? "";
    if (text !== lastRead.text) lastRead = { text, held: parseHeldFile(text) };
    return lastRead.held;
  }

  async function readMode(): Promise<EdgeMode | undefined> {
    const written = /^"" (\w+);$/m.exec((await readWhole(modeFile)) ?? "")?.[1];
    return edgeModes.find((mode) => mode === written);
  }

  async function writeHeld(held: HeldFile, ours: ReadonlyMap<string, number>): Promise<void> {
    const epoch = held.epoch ?? nextEpoch;
    await writeWhole(file, formatHeldFile({ ...held, ours, epoch }, Date.now() / 1_000));
    if (held.epoch === undefined) nextEpoch = randomUUID();
  }

  /** Of what is ours to tell. */
  async function digest(): Promise<string> {
    const { ours } = await readHeld();
    const mode = await readMode();
    return createHash("sha256")
      .update(`${mode} ${[...ours]}`)
      .digest("hex");
  }

  async function tell(): Promise<void> {
    const newest = await digest();
    const isTakenLate = untaken?.digest === newest && (await untaken.reload.isTaken(0));
    if (!isTakenLate) {
      // Without the file nginx would take nothing at all.
      if ((await readWhole(file)) === undefined) await writeWhole(file, "");
      const reload = await nginx.reload();
      untaken = { digest: newest, reload };
      if (!(await reload.isTaken(takenMs))) throw notTaken();
    }
    untaken = undefined;
    await writeWhole(toldFile, `${newest}\n`);
  }

  function notTaken(): EdgeError {
    return new EdgeError(
      "TG_EDGE_SETUP",
      name,
      `nginx did not take ${file}: it still goes by what it read before.`,
      "Run `nginx -t`: it names the line that nginx can not read, there or elsewhere. It is told again until it takes it.",
      true,
    );
  }

  /** Whoever wrote last may have ended, or found nginx down, before it was told. */
  async function tellIfNew(): Promise<void> {
    const told = (await readWhole(toldFile))?.trim();
    if (told !== (await digest())) await telling.run();
  }

  /** One after the other: each reads what the one before wrote. */
  function inTurn<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const done = turn.then(() => {
      signal.throwIfAborted();
      return act();
    });
    turn = done.catch(() => {});
    return untilAborted(done.catch(explain), signal);
  }

  function explain(error: unknown): never {
    const { code, path } = error as NodeJS.ErrnoException;
    if (error instanceof EdgeError || path === undefined) throw error;
    throw new EdgeError(
      "TG_EDGE_SETUP",
      name,
      `${path} can not be read or written (${code}).`,
      `Make the folder of ${file}, and let tidegate write there.`,
      code === "ENOSPC" || code === "EIO",
    );
  }

  return {
    name,
    abilities: { takes: isHeldKey, maxEntries, maxBatch: maxEntries, isListable: true, delayMs: 1_000 },

    current: (_asked, signal) =>
      inTurn(async () => {
        await nginx.find();
        await tellIfNew();
        const { ours, foreign, epoch = nextEpoch } = await readHeld();
        const mode = await readMode();
        const now = Date.now();
        const entries = [...ours].map(([key, end]) => [key, end * 1_000] as const);
        return {
          entries: new Map(entries.filter(([, until]) => until > now)),
          foreign: foreign.size,
          epoch,
          ...(mode && { mode }),
        };
      }, signal),

    async apply({ remove, put }, signal) {
      const refused: RefusedKey[] = [];
      await inTurn(async () => {
        const held = await readHeld();
        const ours = new Map(held.ours);
        for (const key of remove) ours.delete(key);
        for (const { key, until } of put) {
          if (!isHeldKey(key)) refused.push({ key, why: "nginx knows clients by canonical address alone" });
          else if (held.foreign.has(key)) refused.push({ key, why: "somebody else's entry stands there" });
          else ours.set(key, Math.min(Math.ceil(until / 1_000), lastSecond));
        }
        await writeHeld(held, ours);
      }, signal);
      await untilAborted(tellIfNew().catch(explain), signal);
      return { refused, left: [] };
    },

    async setMode(mode, signal) {
      await inTurn(async () => {
        if ((await readMode()) !== mode) await writeWhole(modeFile, `"" ${mode};\n`);
      }, signal);
      await untilAborted(tellIfNew().catch(explain), signal);
    },

    async close() {
      await turn;
      await telling.close();
    },
  };
}

/** What was begun goes on; nobody waits for it any longer. */
function untilAborted<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
