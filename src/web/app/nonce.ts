/** What the page's policy lets styles be written with. Browsers hide it from the attribute, not from the property. */
export const cspNonce: string = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
