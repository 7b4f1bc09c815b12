{-# LANGUAGE OverloadedStrings #-}
-- | The page of the suite bigtable by snap-server: PORT.
module Main (main) where

import Data.ByteString.Builder (Builder, intDec)
import Snap.Core (Snap, modifyResponse, setContentType, writeBuilder)
import Snap.Http.Server
    ( ConfigLog (ConfigNoLog)
    , defaultConfig
    , httpServe
    , setAccessLog
    , setBind
    , setErrorLog
    , setPort
    , setVerbose
    )
import System.Environment (getArgs, withArgs)

main :: IO ()
main = do
    [port] <- getArgs
    let quiet = setVerbose False . setAccessLog ConfigNoLog . setErrorLog ConfigNoLog
    withArgs [] (httpServe (quiet (setBind "127.0.0.1" (setPort (read port) defaultConfig))) answer)

answer :: Snap ()
answer = do
    modifyResponse (setContentType "text/html")
    writeBuilder page

page :: Builder
page = "<table>" <> mconcat (replicate 1000 row) <> "</table>"

row :: Builder
row = "<tr>" <> mconcat ["<td>" <> intDec column <> "</td>" | column <- [1 .. 50]] <> "</tr>"
{-# NOINLINE row #-}
