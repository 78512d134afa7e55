import { toolOf } from "../policy/identity/tools.js";
import type { ClientRow } from "./client-row.js";
import type { Suspicion } from "./rehearsal.js";

/** Why a refused client may have been refused wrongly, and in words; undefined where nothing speaks for it. */
export function suspicionOf(row: ClientRow): Pick<Suspicion, "why" | "words"> | undefined {
  const crawler = crawlers.find(({ token }) => row.userAgent.toLowerCase().includes(token));
  if (crawler !== undefined) {
    return {
      why: "crawler",
      words: `It calls itself ${crawler.name}. If its address is ${crawler.of}'s, put it on the safelist or give crawlers a rule of their own.`,
    };
  }
  const agents = row.agents.count + 1;
  const users = row.users.count;
  if (users >= fewUsers || (agents >= fewAgents && behavesLikeBrowsers(row))) {
    const many = users >= fewUsers ? `${users} users` : `${agents} different browsers`;
    return {
      why: "many-behind-one-address",
      words: `About ${many} came from it: a school, an office or a mobile network. Count such by user, or safelist the address.`,
    };
  }
  if (isBrowser(row.userAgent) && row.refused < row.requests / 2 && behavesLikeBrowsers(row)) {
    return {
      why: "browser",
      words: `It looks like a person's browser, and ${percent(row.refused / row.requests)} of its requests were refused. The limit may be too low for pages like these.`,
    };
  }
  return undefined;
}

/** Authenticated ones: claimed names prove nothing. */
const fewUsers = 3;
const fewAgents = 4;

/** It fetches what pages are made of, or comes from a page. Where too little was seen, it is taken for one that does. */
function behavesLikeBrowsers({ watched, parts, referred }: ClientRow): boolean {
  return watched < 5 || parts + referred >= watched / 5;
}

function isBrowser(userAgent: string): boolean {
  return (
    userAgent.startsWith("Mozilla/5.0 (") &&
    /(?:Chrome|Firefox|Safari|Edg|OPR)\/\d/.test(userAgent) &&
    !/headless|bot|crawl|spider|phantomjs|selenium|playwright|puppeteer|python|curl|wget/i.test(userAgent) &&
    toolOf(userAgent) === undefined
  );
}

function percent(share: number): string {
  return `${share < 0.001 ? "under 0.1" : (share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** Crawlers that people want to come. */
const crawlers: readonly { readonly token: string; readonly name: string; readonly of: string }[] = [
  { token: "googlebot", name: "Googlebot", of: "Google" },
  { token: "google-inspectiontool", name: "Google-InspectionTool", of: "Google" },
  { token: "bingbot", name: "bingbot", of: "Microsoft" },
  { token: "duckduckbot", name: "DuckDuckBot", of: "DuckDuckGo" },
  { token: "applebot", name: "Applebot", of: "Apple" },
  { token: "yandexbot", name: "YandexBot", of: "Yandex" },
  { token: "baiduspider", name: "Baiduspider", of: "Baidu" },
  { token: "slurp", name: "Slurp", of: "Yahoo" },
  { token: "facebookexternalhit", name: "facebookexternalhit", of: "Meta" },
  { token: "linkedinbot", name: "LinkedInBot", of: "LinkedIn" },
  { token: "twitterbot", name: "Twitterbot", of: "X" },
  { token: "slackbot", name: "Slackbot", of: "Slack" },
  { token: "archive.org_bot", name: "archive.org_bot", of: "the Internet Archive" },
  { token: "uptimerobot", name: "UptimeRobot", of: "UptimeRobot" },
  { token: "pingdom", name: "Pingdom", of: "Pingdom" },
];
