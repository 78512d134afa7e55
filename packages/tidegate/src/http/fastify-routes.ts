import type { FastifyRequest } from "fastify";
import { gateBeside } from "../assemble-gate.js";
import { ConfigError } from "../errors.js";
import { warnSafely } from "./misuse.js";
import { type Mount, mount } from "./mount.js";
import { isGateOption, isHttpOption, isPolicyOption, type MountOptions } from "./mount-options.js";
import { limitRule, type RoutePolicy, routePolicy } from "./route-policy.js";

/** A route's own policy or gate in place of the plugin's, or none. What is left out is as the plugin has it: store, lists and holds too. */
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

/** What `register` may put beside a plugin's options. */
const registerNames = ["prefix", "logLevel", "logSerializers"];

/** A route's mount, which goes on following what the plugin's gate is told. */
interface RouteMount {
  readonly mounted: Mount<FastifyRequest>;
  readonly follow?: () => void;
}

/** Routes that are given the same object share a mount, as GET and its HEAD do. */
export function routeMounts(options: Options): RouteMounts {
  const given = only(options, (name) => !registerNames.includes(name));
  const ofPlugin = mount(given, ["hook"]);
  const ofRoutes = new Map<unknown, RouteMount>();
  const answering = only(given, isHttpOption);
  const warn = warnSafely(options.onWarning);

  function make(route: Route, own: Partial<Options>): RouteMount {
    const made = isItsOwn(own) ? apart(route, own) : beside(route, own);
    ofRoutes.set(own, made);
    return made;
  }

  function apart(route: Route, { limit, ...others }: Partial<Options>): RouteMount {
    const shared = others.gate === undefined ? only(given, isGateOption) : {};
    const way = limit === undefined ? {} : { rules: [limitRule(limit, titleOf(route))] };
    return {
      mounted: mount({ ...answering, ...shared, ...others, ...way } as Options, [], "by a framework"),
    };
  }

  function beside(route: Route, own: Partial<Options>): RouteMount {
    const { gate } = ofPlugin;
    const others = only(own, (name) => !isPolicyOption(name));
    const mountOf = (ownGate: typeof gate) =>
      mount({ ...answering, ...others, gate: ownGate } as Options, [], "by a framework");
    const policy = only(own, isPolicyOption) as RoutePolicy;
    if (Object.keys(policy).length === 0) return { mounted: mountOf(gate) };
    const title = titleOf(route);
    const ownGate = gateBeside(gate, routePolicy(policy, title, gate));
    if (ownGate === undefined) throw wrapped(title);
    let followed = gate.policy;
    function follow(): void {
      if (gate.policy === followed) return;
      followed = gate.policy;
      try {
        ownGate?.update(routePolicy(policy, title, gate));
      } catch (error) {
        tellOfFault(title, error, "It is judged as before until the policy fits it again.");
      }
    }
    return { mounted: mountOf(ownGate), follow };
  }

  function tellOfFault(title: string, error: unknown, help: string): void {
    warn({
      code: "TG_HTTP_FAILED",
      message: `the options of route ${title} are faulty: ${error}`,
      help,
    });
  }

  function makeOrWarn(route: Route, own: Partial<Options>): RouteMount {
    try {
      return make(route, own);
    } catch (error) {
      const plugins = { mounted: ofPlugin };
      ofRoutes.set(own, plugins);
      tellOfFault(
        titleOf(route),
        error,
        "It is judged as if it had none. Await the plugin's registration, and such a fault shows when the route is declared.",
      );
      return plugins;
    }
  }

  const declared: Route[] = [];
  let onlyOne: Mount<FastifyRequest> | undefined;

  return {
    get only() {
      return onlyOne;
    },
    declare(route) {
      declared.push(route);
      const own = route.config?.tidegate;
      if (own !== undefined && own !== false && !ofRoutes.has(own)) make(route, own);
    },
    settle(areAll) {
      const areUsual = declared.splice(0).every(({ config }) => config?.tidegate === undefined);
      if (areAll && areUsual) onlyOne = ofPlugin;
    },
    mountOf(route) {
      const own = route.config?.tidegate;
      if (own === undefined) return ofPlugin;
      if (own === false) return undefined;
      const { mounted, follow } = ofRoutes.get(own) ?? makeOrWarn(route, own);
      follow?.();
      return mounted;
    },
  };
}

/** Whether it brings what the plugin's gate has already: a gate, a store, a clock, … */
function isItsOwn(own: Partial<Options>): boolean {
  if (own.gate !== undefined) return true;
  return Object.keys(Object(own)).some((name) => isGateOption(name) && !isPolicyOption(name));
}

function wrapped(title: string): ConfigError {
  return new ConfigError(
    "TG_MOUNT",
    "tidegate.gate",
    `route ${title} has limits of its own, and the plugin's gate was not made by createGate, or is wrapped.`,
    "Give the route a gate of its own: config: { tidegate: { gate } }.",
  );
}

/** `GET /users/:id`. HEAD is answered by GET's handler and goes by its name. */
function titleOf({ method = [], url = "" }: Route): string {
  const methods = [method].flat().map((each) => (each === "HEAD" ? "GET" : each));
  return `${[...new Set(methods)].sort().join(",")} ${url}`;
}

function only<Given extends object>(given: Given, isWanted: (name: string) => boolean): Given {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isWanted(name))) as Given;
}
