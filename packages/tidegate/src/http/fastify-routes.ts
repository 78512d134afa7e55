import type { FastifyRequest } from "fastify";
import { warnSafely } from "./misuse.js";
import { type Mount, mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { ruleName } from "./rule-name.js";

/** A route's own gate in place of the plugin's, or none. What is left out is as the plugin has it, its store too. */
export type RouteOptions = false | Partial<MountOptions<FastifyRequest>>;

type Options = MountOptions<FastifyRequest> & { hook?: unknown };

/** A route as Fastify tells of it, when it is declared and with each request. */
interface Route {
  readonly method?: string | readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly config?: { readonly tidegate?: RouteOptions } | undefined;
}

export interface RouteMounts {
  /** The plugin's, once it is known that no route has options of its own. */
  readonly only: Mount<FastifyRequest> | undefined;
  /** Makes the route's mount. Throws when its options are faulty. */
  declare(route: Route): void;
  /** All routes are declared, and other plugins have had their say in them. `areAll`: none was declared unheard. */
  settle(areAll: boolean): void;
  /** Which mount is for a route. Those with faulty options that were declared unheard get the plugin's. */
  mountOf(route: Route): Mount<FastifyRequest> | undefined;
}

/** What `register` may put beside a plugin's options, and what says how the plugin itself is mounted. */
const registerNames = ["prefix", "logLevel", "logSerializers"];
const wayNames = ["gate", "limit", "rules", "tiers", "defaultTier"];

/** Routes that are given the same object share a mount, as GET and its HEAD do. */
export function routeMounts(options: Options): RouteMounts {
  const given = without(options, registerNames);
  const ofPlugin = mount(given, ["hook"]);
  const ofRoutes = new Map<unknown, Mount<FastifyRequest>>();
  const shared = without(given, [...wayNames, "hook"]);
  const warn = warnSafely(options.onWarning);

  function make(route: Route, own: Partial<Options>): Mount<FastifyRequest> {
    const made = mount({ ...shared, ...named(own, route) } as Options, [], "by a framework");
    ofRoutes.set(own, made);
    return made;
  }

  function makeOrWarn(route: Route, own: Partial<Options>): Mount<FastifyRequest> {
    try {
      return make(route, own);
    } catch (error) {
      ofRoutes.set(own, ofPlugin);
      warn({
        code: "TG_HTTP_FAILED",
        message: `the options of route ${titleOf(route)} are faulty: ${error}`,
        help: "It is judged as if it had none. Await the plugin's registration, and such a fault shows when the route is declared.",
      });
      return ofPlugin;
    }
  }

  const declared: Route[] = [];
  let only: Mount<FastifyRequest> | undefined;

  return {
    get only() {
      return only;
    },
    declare(route) {
      declared.push(route);
      const own = route.config?.tidegate;
      if (own !== undefined && own !== false && !ofRoutes.has(own)) make(route, own);
    },
    settle(areAll) {
      const areUsual = declared.splice(0).every(({ config }) => config?.tidegate === undefined);
      if (areAll && areUsual) only = ofPlugin;
    },
    mountOf(route) {
      const own = route.config?.tidegate;
      if (own === undefined) return ofPlugin;
      return own === false ? undefined : (ofRoutes.get(own) ?? makeOrWarn(route, own));
    },
  };
}

/** A route's limit counts under the route's name, lest it share counts with the plugin's or another's in one store. */
function named({ limit, ...others }: Partial<Options>, route: Route): Partial<Options> {
  if (limit === undefined) return others as Partial<Options>;
  const name = ruleName(`requests ${titleOf(route)}`);
  return { ...others, rules: [{ name, by: "ip", limits: [limit] }] } as Partial<Options>;
}

/** `GET /users/:id`. HEAD is answered by GET's handler and goes by its name. */
function titleOf({ method = [], url = "" }: Route): string {
  const methods = [method].flat().map((each) => (each === "HEAD" ? "GET" : each));
  return `${[...new Set(methods)].sort().join(",")} ${url}`;
}

function without<Given extends object>(given: Given, names: readonly string[]): Given {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name))) as Given;
}
