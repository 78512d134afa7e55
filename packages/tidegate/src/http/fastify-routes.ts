import type { FastifyRequest } from "fastify";
import { type Mount, mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";

/** A route's own gate in place of the plugin's, or none. What is left out is as the plugin has it, its store too. */
export type RouteOptions = false | Partial<MountOptions<FastifyRequest>>;

type Options = MountOptions<FastifyRequest> & { hook?: unknown };

/** What `register` may put beside a plugin's options, and what says how the plugin itself is mounted. */
const registerNames = ["prefix", "logLevel", "logSerializers"];
const wayNames = ["gate", "limit", "rules", "tiers", "defaultTier"];
const longestName = 64;

/** Answers which mount is for a route. Routes that are given the same object share one, as GET and its HEAD do. */
export function routeMounts(
  options: Options,
): (route: RouteOptions | undefined, url: string | undefined) => Mount<FastifyRequest> | undefined {
  const given = without(options, registerNames);
  const ofPlugin = mount(given, ["hook"]);
  const ofRoutes = new WeakMap<object, Mount<FastifyRequest>>();
  const shared = without(given, [...wayNames, "hook"]);

  return (route, url = "") => {
    if (route === undefined) return ofPlugin;
    if (route === false) return undefined;
    let made = ofRoutes.get(route);
    if (made === undefined) {
      made = mount({ ...shared, ...named(route, url) } as Options);
      ofRoutes.set(route, made);
    }
    return made;
  };
}

/** A route's limit counts under the route's name, lest it share counts with the plugin's in one store. */
function named({ limit, ...others }: Partial<Options>, url: string): Partial<Options> {
  if (limit === undefined) return others as Partial<Options>;
  const name = `requests ${url}`.replace(/[^\x20-\x7e]/g, "?").slice(0, longestName);
  return { ...others, rules: [{ name, by: "ip", limits: [limit] }] } as Partial<Options>;
}

function without<Given extends object>(given: Given, names: readonly string[]): Given {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name))) as Given;
}
