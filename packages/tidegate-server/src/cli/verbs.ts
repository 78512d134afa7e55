import { addAudit } from "./audit.js";
import type { Verbs } from "./cli.js";
import { addClient } from "./client.js";
import { addCompletion } from "./completion.js";
import { addCustomer } from "./customer.js";
import { addDecide } from "./decide.js";
import { addEdge } from "./edge.js";
import { addList } from "./list.js";
import { addPolicy } from "./policy.js";
import { addReplay } from "./replay.js";
import { addSchema } from "./schema.js";
import { addSimulate } from "./simulate.js";
import { addStart } from "./start.js";
import { addToken } from "./token.js";
import { addTop } from "./top.js";
import { addWhy } from "./why.js";

/** In the order in which help shows them. */
export const verbs: readonly Verbs[] = [
  addStart,
  addDecide,
  addWhy,
  addList,
  addCustomer,
  addClient,
  addPolicy,
  addTop,
  addAudit,
  addEdge,
  addToken,
  addReplay,
  addSimulate,
  addSchema,
  addCompletion,
];
