import type { HeldClient } from "../types.ts";
import { ClientLink } from "./client-link.tsx";
import { Foreign } from "./foreign.tsx";
import { Countdown } from "./time.tsx";

type Held = Pick<HeldClient, "key" | "rule" | "until" | "about">;

const digest = /^[0-9a-f]{40,64}$/;

/** Client, rule and end: how a row begins. */
export function HeldCells({ held: { key, rule, until, about } }: { held: Held }) {
  return (
    <>
      <td>
        <ClientLink client={about.ip ?? key} />
        <UnderKey id={key} ip={about.ip} />
      </td>
      <td>
        <Foreign text={rule} />
      </td>
      <td>
        <Countdown until={until} />
      </td>
    </>
  );
}

/** Where the key says more than the address. */
function UnderKey({ id, ip }: { id: string; ip: string | undefined }) {
  if (digest.test(id)) return <div class="quiet">fingerprint {id.slice(0, 12)}…</div>;
  if (ip === undefined || ip === id) return null;
  return (
    <div class="quiet">
      as <Foreign text={id} most={80} />
    </div>
  );
}

export function LastSeenCell({ about }: Pick<Held, "about">) {
  return (
    <td class="wraps">
      <Foreign text={[about.method, about.host, about.path].filter(Boolean).join(" ")} />
      <div>
        <Foreign text={about.userAgent} />
      </div>
    </td>
  );
}
