import type { HeldClient } from "../types.ts";
import { ClientLink } from "./client-link.tsx";
import { Foreign } from "./foreign.tsx";

type Held = Pick<HeldClient, "about"> & { readonly id: string };

const digest = /^[0-9a-f]{40,64}$/;

/** Who it is, and under which key where that says more. */
export function HeldClientCell({ id, about }: Held) {
  return (
    <td>
      <ClientLink client={about.ip ?? id} />
      {digest.test(id) ? (
        <div class="quiet">fingerprint {id.slice(0, 12)}…</div>
      ) : (
        about.ip !== undefined &&
        about.ip !== id && (
          <div class="quiet">
            as <Foreign text={id} most={80} />
          </div>
        )
      )}
    </td>
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
