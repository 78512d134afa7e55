import axe from "axe-core";
import { expect, it } from "vitest";
import { type Rig, startRig } from "./rig.js";

const policy = "rules:\n  - { name: req/ip, by: ip, limits: [100 per hour] }\n";

async function visits(rig: Rig, ip: string, count: number, agent: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++)
    statuses.push((await rig.visit(ip, { "user-agent": agent }, "/search")).status);
  return statuses;
}

it("a stricter policy is rehearsed on the traffic just met: who would be refused is seen before it is applied, and is so after", async () => {
  const rig = await startRig({ policy });
  await visits(rig, "203.0.113.70", 12, "scraper/1 <img src=x onerror=window.ran=1>");
  await visits(rig, "203.0.113.71", 3, "Mozilla/5.0");
  const page = await rig.open("#/policy");
  const text = page.getByLabel("Policy, as YAML");
  await text.fill(policy.replace("100 per hour", "5 per hour"));
  await page.getByText("It can be used.").waitFor();
  await page.getByRole("button", { name: "Rehearse" }).click();

  await page.getByText("7 of 15 requests would be refused").waitFor();
  await page.getByText("1 client would be newly refused, with 7 requests.").waitFor();
  const changed = page.getByRole("region", { name: "Clients answered otherwise" });
  await changed.getByRole("rowheader", { name: "203.0.113.70" }).waitFor();
  expect(await changed.getByRole("rowheader", { name: "203.0.113.71" }).count()).toBe(0);
  await page
    .getByRole("region", { name: "Clients refused" })
    .getByText("onerror=window.ran")
    .first()
    .waitFor();
  await page.locator(".report .chart canvas").waitFor();
  expect(await page.evaluate("window.ran")).toBeUndefined();
  expect(await visits(rig, "203.0.113.70", 1, "curl/8")).toEqual([200]);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: unknown[] }>("axe.run(document)");
  expect(violations).toEqual([]);
  await page.setViewportSize({ width: 360, height: 900 });
  expect(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
  ).toBe(0);

  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Version 2 is in force.").waitFor();
  expect(await visits(rig, "203.0.113.70", 1, "curl/8")).toEqual([429]);
  expect(await visits(rig, "203.0.113.71", 2, "Mozilla/5.0")).toEqual([200, 200]);
  expect(await visits(rig, "203.0.113.71", 1, "Mozilla/5.0")).toEqual([429]);
});

it("says in words that there is no recent traffic, and marks a report of a text that was changed since", async () => {
  const rig = await startRig({ policy });
  const page = await rig.open("#/policy", { role: "operator" });
  const rehearse = page.getByRole("button", { name: "Rehearse" });
  await rehearse.click();
  await page.getByText("there is nothing to rehearse with").waitFor();
  await visits(rig, "203.0.113.72", 2, "curl/8");
  await rehearse.click();
  await page.getByText("0 of 2 requests would be refused").waitFor();
  await page.getByText("Against the policy in force nothing would change for this traffic.").waitFor();
  await page.getByLabel("Policy, as YAML").fill(policy.replace("100", "0"));
  await page.getByText("The policy was changed since").waitFor();
  expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
});

it("a viewer may not, and is told why", async () => {
  const rig = await startRig({ policy });
  const page = await rig.open("#/policy", { role: "viewer" });
  const rehearse = page.getByRole("button", { name: "Rehearse" });
  await rehearse.waitFor();
  expect(await rehearse.isDisabled()).toBe(true);
  expect(await rehearse.getAttribute("title")).toContain("operator");
});
