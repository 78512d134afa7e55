import { type Abuse, customerOf, type TrafficModelOptions } from "tidegate/simulate";

/** The presets that are shipped, and what each is for: of abuse that no rule of it looks at it need not know. */
export const purposes: Readonly<Record<string, readonly Abuse[]>> = {
  website: ["scraping", "probing", "guessing", "hammering"],
  api: ["flooding"],
  login: ["guessing"],
};

export const seeds: readonly number[] = [1, 2, 3];

/** A working day of a site, with more abusers than usual, so that a share of those found says something. */
export function workingDay(seed: number): TrafficModelOptions {
  return { seed, scrapers: 10, probers: 6, bruteForcers: 6, hammerers: 4, flooders: 4, apiClients };
}

const apiClients = 6;
const tiers = new Map(Array.from({ length: apiClients }, (_, index) => customerOf(index)).map(tierById));

export function tierOf(customer: string): string | undefined {
  return tiers.get(customer);
}

function tierById({ id, tier }: ReturnType<typeof customerOf>): [string, string] {
  return [id, tier];
}
