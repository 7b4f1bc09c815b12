// A MongoDB-compatible server for tests: FerretDB over SQLite. Arguments: the address, the directory, and the address of
// TLS with its certificate and key.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{
			TCP:         os.Args[1],
			TLS:         os.Args[3],
			TLSCertFile: os.Args[4],
			TLSKeyFile:  os.Args[5],
		},
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
