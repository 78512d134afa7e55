import { Redis } from "ioredis";

export interface Watched {
  /** What clients sent, as lists of words. */
  readonly outside: string[][];
  /** What scripts ran. */
  readonly inside: string[][];
}

/** What this server is told about keys with a prefix while something happens. */
export async function watchScripts(port: number, prefix: string, act: () => Promise<void>): Promise<Watched> {
  const client = new Redis(port);
  const monitor = await client.monitor();
  const outside: string[][] = [];
  const inside: string[][] = [];
  const end = `end of ${prefix}`;
  const seenAll = new Promise<void>((resolve) => {
    monitor.on("monitor", (_time: string, words: string[], source: string) => {
      if (words.includes(end)) resolve();
      else if (words.some((word) => word.startsWith(prefix)))
        (source === "lua" ? inside : outside).push(words);
    });
  });
  await act();
  await client.echo(end);
  await seenAll;
  monitor.disconnect();
  client.disconnect();
  return { outside: outside.map(lowerCommand), inside: inside.map(lowerCommand) };
}

function lowerCommand([command = "", ...words]: string[]): string[] {
  return [command.toLowerCase(), ...words];
}
