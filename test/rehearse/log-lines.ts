import { type ModelledRequest, seededRandom } from "tidegate/simulate";

export type LogFormat = "combined" | "nginx-json" | "alb";

/** The model's traffic as the lines of an access log; the truth is left out. The same traffic gives the same lines. */
export function* logLines(traffic: Iterable<ModelledRequest>, format: LogFormat): Generator<string> {
  // Bytes and ports are nobody's fact, but a log has them.
  const random = seededRandom(7, format);
  const line = writers[format];
  for (const request of traffic)
    yield line(request, { bytes: random.whole(200, 40_000), port: random.whole(1024, 65_535) });
}

interface Invented {
  readonly bytes: number;
  readonly port: number;
}

const writers: Readonly<Record<LogFormat, (request: ModelledRequest, invented: Invented) => string>> = {
  combined,
  "nginx-json": nginxJson,
  alb,
};

/** nginx's and Apache's: whole seconds, and neither host nor account. */
function combined({ at, subject, outcome }: ModelledRequest, { bytes }: Invented): string {
  const request = `${subject.method} ${subject.path} HTTP/1.1`;
  return `${subject.ip} - - [${commonTime(at)}] "${request}" ${outcome.status} ${bytes} "-" "${agentOf(subject)}"`;
}

/** A site that logs whose login was tried, and which customer its API was asked by. */
function nginxJson({ at, subject, outcome }: ModelledRequest, { bytes }: Invented): string {
  const { ip, method, host, path, account, customer } = subject;
  return JSON.stringify({
    msec: (at / 1000).toFixed(3),
    remote_addr: ip,
    request_method: method,
    request_uri: path,
    http_host: host,
    status: outcome.status,
    body_bytes_sent: bytes,
    http_user_agent: agentOf(subject),
    ...(account !== undefined && { account }),
    ...(customer !== undefined && { customer }),
  });
}

function alb({ at, subject, outcome }: ModelledRequest, { bytes, port }: Invented): string {
  const { ip, method, host, path } = subject;
  const time = `${new Date(at).toISOString().slice(0, -1)}000Z`;
  const peer = ip.includes(":") ? `[${ip}]` : ip;
  return [
    `https ${time} app/site/50dc6c495c0c9188 ${peer}:${port} 10.0.0.1:80 0.000 0.001 0.000`,
    `${outcome.status} ${outcome.status} 120 ${bytes} "${method} https://${host}:443${path} HTTP/1.1"`,
    `"${agentOf(subject)}" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2`,
    `arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/site/73e2d6bc24d8a067`,
    `"Root=1-58337262-36d228ad5d99923122bbe354" "${host}" "session-reused" 0 ${time} "forward" "-" "-"`,
    `"10.0.0.1:80" "${outcome.status}" "-" "-"`,
  ].join(" ");
}

function agentOf(subject: ModelledRequest["subject"]): string {
  return subject.header("user-agent") ?? "-";
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function commonTime(at: number): string {
  const [year, month, day, ...rest] = new Date(at).toISOString().split(/[-T:.]/);
  const [hour, minute, second] = rest;
  return `${day}/${months[Number(month) - 1]}/${year}:${hour}:${minute}:${second} +0000`;
}
