// First, so that component styles override those of the library.
import './app/styles.js';
import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';
import { Providers, cspNonce } from './app/providers.js';

setNonce(cspNonce);

const place = document.getElementById('app');
if (place === null) throw new Error('The page has no element with the ID "app".');
createRoot(place).render(<Providers />);
