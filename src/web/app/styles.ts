/** Every page's styles, in the order that lets ours win. */
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './styles.css';
