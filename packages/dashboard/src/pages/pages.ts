import type { FunctionComponent } from "preact";
import { Audit } from "./audit.tsx";
import { Clients } from "./clients.tsx";
import { Customers } from "./customers.tsx";
import { Edges } from "./edges.tsx";
import { Lists } from "./lists.tsx";
import { Overview } from "./overview.tsx";
import { Playground } from "./playground.tsx";
import { Policy } from "./policy.tsx";
import { Tokens } from "./tokens.tsx";

export interface Page {
  /** In the address, after `#/`. */
  readonly name: string;
  readonly title: string;
  readonly Page: FunctionComponent;
}

/** In the order of the navigation; the first is where one begins. */
export const pages: readonly Page[] = [
  { name: "overview", title: "Overview", Page: Overview },
  { name: "lists", title: "Lists", Page: Lists },
  { name: "clients", title: "Clients", Page: Clients },
  { name: "customers", title: "Customers", Page: Customers },
  { name: "edges", title: "Edges", Page: Edges },
  { name: "policy", title: "Policy", Page: Policy },
  { name: "playground", title: "Playground", Page: Playground },
  { name: "audit", title: "Audit", Page: Audit },
  { name: "tokens", title: "Tokens", Page: Tokens },
];
