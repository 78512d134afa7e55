// The app in a process of its own.
import { answerParent } from "./child.mjs";
import { upstreamActs } from "./http-upstream.mjs";

answerParent(upstreamActs);
