/** A certificate authority of a test's own, and certificates that it signs. Nothing else trusts it. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import forge from 'node-forge';

export interface Authority {
  /** Its certificate, for those who are to trust it. */
  readonly pem: string;
  /** Key and certificate of a server that is reached at this IP address, and by no name. */
  sign(ip: string): { readonly key: string; readonly cert: string };
}

const HOUR_MS = 3_600_000;

export function newAuthority(name: string): Authority {
  const { key, publicKey } = newKey();
  const own = certificate(name, publicKey, name, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  own.sign(key, forge.md.sha256.create());
  return {
    pem: forge.pki.certificateToPem(own),
    sign(ip) {
      const server = newKey();
      const made = certificate('database', server.publicKey, name, [
        { name: 'subjectAltName', altNames: [{ type: 7, ip }] },
        { name: 'extKeyUsage', serverAuth: true },
      ]);
      made.sign(key, forge.md.sha256.create());
      return { key: server.pem, cert: forge.pki.certificateToPem(made) };
    },
  };
}

/** Made by Node.js, which is a hundred times as fast. */
function newKey(): { key: forge.pki.rsa.PrivateKey; publicKey: forge.pki.PublicKey; pem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return {
    key: forge.pki.privateKeyFromPem(pair.privateKey) as forge.pki.rsa.PrivateKey,
    publicKey: forge.pki.publicKeyFromPem(pair.publicKey),
    pem: pair.privateKey,
  };
}

function certificate(subject: string, key: forge.pki.PublicKey, issuer: string, extensions: object[]) {
  const made = forge.pki.createCertificate();
  made.publicKey = key;
  made.serialNumber = `01${randomBytes(8).toString('hex')}`;
  made.validity.notBefore = new Date(Date.now() - HOUR_MS);
  made.validity.notAfter = new Date(Date.now() + 24 * HOUR_MS);
  made.setSubject([{ name: 'commonName', value: subject }]);
  made.setIssuer([{ name: 'commonName', value: issuer }]);
  made.setExtensions(extensions);
  return made;
}
