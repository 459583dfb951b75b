/** The CSP nonce for styles. Browsers hide it in the attribute but not in the property. */
export const cspNonce: string = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
