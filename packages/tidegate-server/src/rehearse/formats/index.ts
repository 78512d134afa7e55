import type { LogFormat } from "../line-parser.js";
import { alb } from "./alb.js";
import { caddy } from "./caddy.js";
import { combined, common } from "./combined.js";
import { decisionLog } from "./decision-log.js";
import { nginxJson } from "./nginx-json.js";
import { w3c } from "./w3c.js";

/** In the order in which a line that looks like two of them is taken for one. */
export const formats: readonly LogFormat[] = [combined, common, decisionLog, caddy, nginxJson, alb, w3c];
