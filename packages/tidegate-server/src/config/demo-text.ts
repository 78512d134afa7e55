/** The configuration of a server nobody has configured. */
export const demoText = `decide:
  peers: [loopback]
  canFinish: true
policy:
  # The demo: 100 requests a minute from each address, this machine's own included.
  rules:
    - name: demo
      by: ip
      limits: [100 per minute]
`;
